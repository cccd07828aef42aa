package io.troupe.node.conformance;

import static io.troupe.node.conformance.Requests.get;
import static io.troupe.node.conformance.Requests.put;
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
import io.troupe.node.process.NodeProcess;
import io.troupe.node.process.TestJdks;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What answers may take of a small heap (the difference from G13 in docs/conformance.md): a member
 * with 256 MiB and 130 MB of data, of which 64 MiB may be in answers.
 */
class AnswerMemoryIT {
  private static final int KEYS = 130;
  private static final int VALUE_BYTES = 1_000_000;

  /** Of a range that fits, but not many times at once. */
  private static final int SOME = 20;

  private static final String BUSY = "etcdserver: too many requests";

  @TempDir static Path directory = Path.of("");

  private static NodeProcess member;
  private static ApiClient client;

  @BeforeAll
  static void fill() {
    member = NodeProcess.member(TestJdks.running(), directory, "-Xmx256m").start().awaitReady();
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

  /** Whether it was answered rightly; false when it was refused for now, anything else fails. */
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

  /** What was sent gives its memory back, if not in the same moment. */
  private static void awaitThatARangeIsAnswered() {
    Awaitility.await()
        .atMost(Duration.ofMinutes(1))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> answered(ask(client, some(0))));
    assertThat(member.isAlive()).isTrue();
    assertThat(member.err()).doesNotContain(" ERROR ", "OutOfMemory");
  }

  @Test
  void anAnswerThatNeedsMoreThanThereIsIsRefusedAndTheConnectionGoesOn() {
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
  void eightClientsAtOnceAreAnsweredOrRefused() throws Exception {
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
  void aClientThatReadsNothingCostsOnlyItself() throws Exception {
    try (ApiClient deaf = new ApiClient(member.endpoint())) {
      // It has taken what there is when one of its own calls is refused.
      assertThat(openUnread(deaf, Api.RANGE, 10)).isEqualTo(BUSY);
      othersAreServed();
    }
    awaitThatARangeIsAnswered();
  }

  @Test
  void aClientThatReadsNoneOfItsStreamsCostsOnlyItself() throws Exception {
    try (ApiClient deaf = new ApiClient(member.endpoint())) {
      assertThat(openUnread(deaf, Api.RANGE_STREAM, 110)).isEqualTo(BUSY);
      othersAreServed();
    }
    awaitThatARangeIsAnswered();
  }

  /**
   * Begins calls whose messages nobody ever asks for: the windows of their connection are never
   * opened again. Gives the text of the first one that ends.
   */
  private static <R> @Nullable String openUnread(
      ApiClient from, MethodDescriptor<RangeRequest, R> method, int calls) {
    StreamAnswers<R> ends = new StreamAnswers<>();
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
