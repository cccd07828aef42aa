package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import io.troupe.grpc.api.WatchCancelRequest;
import io.troupe.grpc.api.WatchCreateRequest;
import io.troupe.grpc.api.WatchProgressRequest;
import io.troupe.grpc.api.WatchRequest;
import io.troupe.grpc.api.WatchResponse;
import io.troupe.grpc.api.mvcc.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** One watch stream: requests out, responses in order. */
final class WatchStream implements AutoCloseable {
  private final ClientCall<WatchRequest, WatchResponse> call;
  private final StreamResponses<WatchResponse> answers = new StreamResponses<>();
  private final StreamObserver<WatchRequest> requests;

  WatchStream(Channel channel) {
    this.call = channel.newCall(Api.WATCH, CallOptions.DEFAULT);
    this.requests = ClientCalls.asyncBidiStreamingCall(call, answers);
  }

  void send(WatchRequest request) {
    requests.onNext(request);
  }

  /** Creates a watcher and returns its response, which must be the next one. */
  WatchResponse create(WatchCreateRequest.Builder create) {
    ask(create);
    WatchResponse response = next();
    assertThat(response.getCreated()).as("created in %s", response).isTrue();
    assertThat(response.getEventsList()).isEmpty();
    return response;
  }

  void ask(WatchCreateRequest.Builder create) {
    send(WatchRequest.newBuilder().setCreateRequest(create).build());
  }

  void cancel(long watchId) {
    send(
        WatchRequest.newBuilder()
            .setCancelRequest(WatchCancelRequest.newBuilder().setWatchId(watchId))
            .build());
  }

  void requestProgress() {
    send(
        WatchRequest.newBuilder()
            .setProgressRequest(WatchProgressRequest.getDefaultInstance())
            .build());
  }

  void halfClose() {
    requests.onCompleted();
  }

  WatchResponse next() {
    return answers.next();
  }

  /** A received response; does not wait. */
  Optional<WatchResponse> poll() {
    return answers.poll();
  }

  /** The next matching response; skips the ones before it. */
  WatchResponse next(Predicate<WatchResponse> wanted) {
    WatchResponse response = next();
    while (!wanted.test(response)) {
      response = next();
    }
    return response;
  }

  /** Responses until they have at least {@code count} events. */
  List<WatchResponse> untilEvents(int count) {
    List<WatchResponse> all = new ArrayList<>();
    int events = 0;
    while (events < count) {
      WatchResponse response = next();
      all.add(response);
      events += response.getEventsCount();
    }
    return all;
  }

  /** Exactly the next {@code count} events, in any number of responses. */
  List<Event> events(int count) {
    List<Event> events = new ArrayList<>();
    untilEvents(count).forEach(response -> events.addAll(response.getEventsList()));
    assertThat(events).hasSize(count);
    return events;
  }

  /**
   * Shows that no other response arrives: a watcher of another key receives an event that was
   * created after all possible ones.
   */
  void expectNothingBefore(ApiClient client, String otherKey) {
    long id = create(Requests.watch(otherKey)).getWatchId();
    ByteString mark = Requests.bytes("mark");
    client.put(otherKey, "mark");
    WatchResponse response = next();
    assertThat(response.getWatchId()).as("unexpected %s", response).isEqualTo(id);
    assertThat(response.getEvents(0).getKv().getValue()).isEqualTo(mark);
  }

  Status end() {
    return answers.end();
  }

  @Override
  public void close() {
    call.cancel("test is over", null);
  }
}
