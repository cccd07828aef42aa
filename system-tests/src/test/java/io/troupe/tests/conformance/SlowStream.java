package io.troupe.tests.conformance;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;

/** A stream of the server whose messages arrive on request. */
final class SlowStream<Q, R> {
  private final StreamResponses<R> answers = new StreamResponses<>();
  private final ClientCall<Q, R> call;

  /** Sends the request and requests the first message. */
  SlowStream(ApiClient client, MethodDescriptor<Q, R> method, Q request) {
    call = client.channel().newCall(method, CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onMessage(R message) {
            answers.onNext(message);
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            if (status.isOk()) {
              answers.onCompleted();
            } else {
              answers.onError(status.asException());
            }
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(request);
    call.halfClose();
  }

  /** Waits for the next message. */
  R next() {
    return answers.next();
  }

  /** Reads all remaining messages, and waits for the status. */
  Status drain() {
    call.request(Integer.MAX_VALUE);
    return answers.end();
  }

  /** All messages after the first; call it after {@link #drain}. */
  List<R> rest() {
    List<R> rest = new ArrayList<>();
    for (var next = answers.poll(); next.isPresent(); next = answers.poll()) {
      rest.add(next.get());
    }
    return rest;
  }

  /** Waits for the status of a stream that the server ends. */
  Status end() {
    return answers.end();
  }

  void cancel() {
    call.cancel("enough", null);
  }
}
