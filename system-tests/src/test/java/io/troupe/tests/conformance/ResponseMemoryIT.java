package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.Requests.get;
import static io.troupe.tests.conformance.Requests.put;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestHeap;
import io.troupe.tests.process.TestJdks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Bound of response memory (the difference from G13 in docs/conformance.md): the member has twice
 * as much data as responses may hold, which is a quarter of its heap.
 */
@Tag("full")
class ResponseMemoryIT {
  private static final int KEYS = TestHeap.scaled(130);
  private static final int VALUE_BYTES = 1_000_000;

  /** Bytes of a range that fits once, but not many times at the same time. */
  private static final int SOME = 20;

  private static final String BUSY = "etcdserver: too many requests";

  @TempDir static Path directory = Path.of("");

  private static NodeProcess member;
  private static ApiClient client;

  @BeforeAll
  static void fill() {
    member = NodeProcess.member(TestJdks.running(), directory).start().awaitReady();
    client = new ApiClient(member.endpoint());
    for (int i = 0; i < KEYS; i++) {
      client.put(put(key(i), "").setValue(Requests.filled(VALUE_BYTES)));
    }
  }

  @AfterAll
  static void end() {
    client.close();
    member.close();
  }

  private static String key(int i) {
    return "key/%03d".formatted(i);
  }

  private static RangeRequest some(int from) {
    return get(key(from)).setRangeEnd(Requests.bytes(key(from + SOME))).build();
  }

  /**
   * Returns whether the response was correct; false if the member refused it for lack of memory.
   * Any other result fails the test.
   */
  private static boolean answered(ListenableFuture<RangeResponse> answer)
      throws InterruptedException, TimeoutException {
    try {
      assertThat(answer.get(2, TimeUnit.MINUTES).getKvsList())
          .hasSize(SOME)
          .allMatch(kv -> kv.getValue().size() == VALUE_BYTES);
      return true;
    } catch (ExecutionException failure) {
      Status status = Status.fromThrowable(failure);
      assertThat(status.getDescription()).as(status + " of " + member).isEqualTo(BUSY);
      return false;
    }
  }

  private static ListenableFuture<RangeResponse> ask(ApiClient from, RangeRequest request) {
    return ClientCalls.futureUnaryCall(
        from.channel().newCall(Api.RANGE, CallOptions.DEFAULT), request);
  }

  /** A sent response releases its memory, but not immediately. */
  private static void awaitThatARangeIsAnswered() {
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> answered(ask(client, some(0))));
    assertThat(member.isAlive()).isTrue();
    assertThat(member.err()).doesNotContain(" ERROR ", "OutOfMemory");
  }

  @Test
  void responseAboveBudgetIsRefusedAndConnectionContinues() {
    try {
      RangeResponse answer = client.range(Requests.prefix("key/"));
      throw new AssertionError("an answer of " + answer.getSerializedSize() + " bytes");
    } catch (StatusRuntimeException refused) {
      assertThat(refused.getStatus().getCode()).isEqualTo(Code.RESOURCE_EXHAUSTED);
      assertThat(refused.getStatus().getDescription())
          .startsWith("troupe: the answer needs more memory");
    }
    assertThat(client.get(key(7)).getKvs(0).getValue().size()).isEqualTo(VALUE_BYTES);
    assertThat(client.rangeStream(Requests.prefix("key/")))
        .extracting(chunk -> chunk.getRangeResponse().getKvsCount())
        .satisfies(counts -> assertThat(counts.stream().mapToInt(n -> n).sum()).isEqualTo(KEYS));
    awaitThatARangeIsAnswered();
  }

  @Test
  void eightConcurrentClientsGetResponsesOrRefusals() throws Exception {
    List<ApiClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < 8; i++) {
        clients.add(new ApiClient(member.endpoint()));
        clients.get(i).get("connected");
      }
      int answered = 0;
      for (int round = 0; round < 5; round++) {
        List<ListenableFuture<RangeResponse>> answers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
          answers.add(ask(clients.get(i), some(i * 10)));
        }
        for (ListenableFuture<RangeResponse> answer : answers) {
          answered += answered(answer) ? 1 : 0;
        }
      }
      assertThat(answered).isPositive();
    } finally {
      clients.forEach(ApiClient::close);
    }
    awaitThatARangeIsAnswered();
  }

  @Test
  void clientThatReadsNothingAffectsOnlyItself() throws Exception {
    try (ApiClient deaf = new ApiClient(member.endpoint())) {
      // The budget is exhausted when the member refuses one of these calls.
      assertThat(openUnread(deaf, Api.RANGE, TestHeap.scaled(10))).isEqualTo(BUSY);
      othersAreServed();
    }
    awaitThatARangeIsAnswered();
  }

  @Test
  void clientThatReadsNoStreamAffectsOnlyItself() throws Exception {
    try (ApiClient deaf = new ApiClient(member.endpoint())) {
      // Either the call is refused, or the end of the whole connection arrives first.
      assertThat(openUnread(deaf, Api.RANGE_STREAM, TestHeap.scaled(110)))
          .contains("too many requests");
      othersAreServed();
    }
    awaitThatARangeIsAnswered();
  }

  /**
   * Starts calls whose messages the client never requests: the client never opens the windows of
   * their connection again. Returns the text of the first call that ends.
   */
  private static <R> @Nullable String openUnread(
      ApiClient from, MethodDescriptor<RangeRequest, R> method, int calls) {
    StreamResponses<R> ends = new StreamResponses<>();
    for (int i = 0; i < calls; i++) {
      ClientCall<RangeRequest, R> call = from.channel().newCall(method, CallOptions.DEFAULT);
      call.start(
          new ClientCall.Listener<>() {
            @Override
            public void onClose(Status status, Metadata trailers) {
              ends.onError(status.asException());
            }
          },
          new Metadata());
      call.sendMessage(some(i % (KEYS - SOME)));
      call.halfClose();
    }
    return ends.end().getDescription();
  }

  private static void othersAreServed() throws Exception {
    for (int i = 0; i < 20; i++) {
      answered(ask(client, some(i)));
      client.put("small", "value " + i);
      assertThat(client.get("small").getKvs(0).getValue().toStringUtf8()).isEqualTo("value " + i);
    }
    assertThat(member.isAlive()).isTrue();
  }
}
