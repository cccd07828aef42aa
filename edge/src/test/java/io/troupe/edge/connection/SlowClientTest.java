package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.edge.calls.RequestBodyTimeout;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** Clients that keep a connection or a call open without sending a request. */
class SlowClientTest {
  private static final ActorSystem SYSTEM = ActorSystem.create("slow");
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final Http1TimeoutStage.Limits USUAL = Http1TimeoutStage.Limits.USUAL;

  @AfterAll
  static void stop() {
    SYSTEM.terminate();
  }

  private static Http1TimeoutStage stage(Duration head) {
    return new Http1TimeoutStage(
        "test",
        new ConnectionState(MemoryBudget.UNLIMITED.holder()),
        new Http1TimeoutStage.Limits(head, LONG));
  }

  private static String received(Source<ByteString, NotUsed> bytes, Duration limit)
      throws Exception {
    return received(bytes, stage(limit)).get(20, TimeUnit.SECONDS);
  }

  /** The bytes that a server receives that does not respond. */
  private static CompletableFuture<String> received(
      Source<ByteString, NotUsed> bytes, Http1TimeoutStage stage) {
    return bytes
        .viaMat(
            BidiFlow.fromGraph(stage)
                .reversed()
                .join(
                    Flow.fromSinkAndSourceMat(
                        Sink.fold(ByteString.emptyByteString(), ByteString::concat),
                        Source.<ByteString>never(),
                        Keep.left()),
                    Keep.right()),
            Keep.right())
        .toMat(Sink.ignore(), Keep.left())
        .run(SYSTEM)
        .toCompletableFuture()
        .thenApply(ByteString::utf8String);
  }

  private static Source<ByteString, NotUsed> parts(String... parts) {
    return Source.from(List.of(parts)).map(ByteString::fromString);
  }

  @Test
  void silentClientIsClosed() {
    assertThatThrownBy(() -> received(Source.never(), SHORT))
        .isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(TimeoutException.class)
        .hasMessageContaining("no request within 300 ms");
  }

  @Test
  void clientThatNeverCompletesHeadIsClosed() {
    Source<ByteString, NotUsed> trickle =
        parts("GET / HTTP/1.1\r\nA: ")
            .concat(Source.repeat(ByteString.fromString("a")).throttle(1, Duration.ofMillis(20)));
    assertThatThrownBy(() -> received(trickle, SHORT)).hasCauseInstanceOf(TimeoutException.class);
  }

  @Test
  void endlessHeadIsClosedAtSizeLimit() {
    ByteString much = ByteString.fromString("a".repeat(Http1TimeoutStage.MAX_HEAD_BYTES / 4));
    assertThatThrownBy(() -> received(Source.repeat(much), LONG))
        .hasMessageContaining("bytes and no request");
  }

  @Test
  void largeHeadIsCountedAfterItWasRead() throws Exception {
    MemoryBudget budget = new MemoryBudget(1 << 20);
    ByteString head =
        ByteString.fromString("GET / HTTP/1.1\r\nA: " + "a".repeat(60_000) + "\r\n\r\n");
    CompletableFuture<ByteString> later = new CompletableFuture<>();
    CompletableFuture<String> said =
        received(
            Source.single(head).concat(Source.completionStage(later)),
            new Http1TimeoutStage("test", new ConnectionState(budget.holder()), USUAL));
    Awaitility.await().until(() -> budget.taken() >= 2 * 60_000);
    later.complete(ByteString.fromString("later"));
    assertThat(said.get(20, TimeUnit.SECONDS)).endsWith("later");
  }

  @Test
  void largeHeadClosesConnectionWhenMemoryIsExhausted() {
    MemoryBudget budget = new MemoryBudget(100_000);
    ByteString head = ByteString.fromString("GET / HTTP/1.1\r\nA: " + "a".repeat(60_000));
    CompletableFuture<String> said =
        received(
            Source.single(head).concat(Source.never()),
            new Http1TimeoutStage("test", new ConnectionState(budget.holder()), USUAL));
    assertThatThrownBy(() -> said.get(20, TimeUnit.SECONDS))
        .hasMessageContaining("large head while memory is short");
    Awaitility.await().until(() -> budget.taken() == 0);
  }

  /** In any chunking, and with the maximum number of leading empty lines. */
  @Test
  void everythingPassesAfterRequest() throws Exception {
    String all = "GET / HTTP/1.1\r\n\r\r\nA: b\r\n\r\nbody";
    for (int cut = 1; cut < all.length(); cut++) {
      int size = cut;
      String[] parts =
          IntStream.rangeClosed(0, (all.length() - 1) / size)
              .mapToObj(i -> all.substring(i * size, Math.min(all.length(), (i + 1) * size)))
              .toArray(String[]::new);
      Source<ByteString, NotUsed> bytes =
          parts(parts).concat(parts("later").initialDelay(Duration.ofMillis(1)));
      assertThat(received(bytes, LONG)).isEqualTo(all + "later");
    }
    Source<ByteString, NotUsed> quiet =
        parts("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
            .concat(parts("later").initialDelay(SHORT.multipliedBy(2)));
    assertThat(received(quiet, SHORT)).endsWith("later");
  }

  @Test
  void bodyHasTimeLimit() throws Exception {
    Source<ByteString, NotUsed> hanging = parts("half").concat(Source.never());
    assertThatThrownBy(
            () ->
                RequestBodyTimeout.limited(hanging, SHORT)
                    .runWith(Sink.ignore(), SYSTEM)
                    .toCompletableFuture()
                    .get(20, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            GrpcException.class,
            late -> assertThat(late.status().code()).isEqualTo(GrpcStatus.DEADLINE_EXCEEDED));
    assertThat(
            RequestBodyTimeout.limited(parts("a", "b"), LONG)
                .runWith(Sink.seq(), SYSTEM)
                .toCompletableFuture()
                .get(20, TimeUnit.SECONDS))
        .hasSize(2);
  }
}
