package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.edge.calls.GrpcResponses;
import io.troupe.model.MemoryBudget;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.NotUsed;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.japi.Pair;
import org.apache.pekko.stream.StreamTcpException;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Keep;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

/** What the HTTP layer receives when a connection ends. */
class Http2FrameInspectorTest {
  private static final ActorTestKit KIT = ActorTestKit.create();
  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final int FRAME_HEADER = 9;

  /** DATA of stream 1 with ten bytes. */
  private static final byte[] DATA = {0, 0, 10, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

  /** DATA above the frame size that both sides agreed on. */
  private static final byte[] TOO_LARGE = {1, 0, 0, 0, 0, 0, 0, 0, 1};

  @AfterAll
  static void stop() {
    KIT.shutdownTestKit();
  }

  /** The outcome of a connection for the HTTP layer, and the bytes that the client receives. */
  private record Ended(CompletionStage<ByteString> requests, CompletionStage<ByteString> sent) {}

  private static Ended connection(byte[] bytes) {
    ConnectionState connection = new ConnectionState(MemoryBudget.UNLIMITED.holder());
    Http2FrameInspector inspector =
        new Http2FrameInspector("test", connection, new ConnectionLimits(100, 10, 10, 10), true, 1);
    // As the HTTP layer: the failure of what it receives is the failure of what it sends.
    Flow<ByteString, ByteString, CompletionStage<ByteString>> server =
        Flow.of(ByteString.class)
            .alsoToMat(Sink.fold(ByteString.emptyByteString(), ByteString::concat), Keep.right())
            .filter(unused -> false);
    Flow<ByteString, ByteString, CompletionStage<ByteString>> flow =
        BidiFlow.fromGraph(inspector).reversed().join(server, Keep.right());
    Source<ByteString, NotUsed> client =
        Source.single(ByteString.fromArray(PREFACE).concat(ByteString.fromArray(bytes)));
    Pair<CompletionStage<ByteString>, CompletionStage<ByteString>> run =
        client
            .viaMat(flow, Keep.right())
            .toMat(Sink.fold(ByteString.emptyByteString(), ByteString::concat), Keep.both())
            .run(KIT.system());
    return new Ended(run.first(), run.second());
  }

  @Test
  void connectionThatEndsInsideFrameFailsAsLostConnection() {
    for (int length = 1; length < DATA.length; length++) {
      assertThat(connection(Arrays.copyOf(DATA, length)).requests().toCompletableFuture())
          .as("%s bytes of a frame", length)
          .failsWithin(Duration.ofSeconds(10))
          .withThrowableThat()
          .havingCause()
          .isInstanceOf(StreamTcpException.class);
    }
  }

  @Test
  void connectionThatEndsBetweenFramesIsComplete() {
    assertThat(connection(DATA).requests().toCompletableFuture())
        .succeedsWithin(Duration.ofSeconds(10))
        .extracting(ByteString::size)
        .isEqualTo(PREFACE.length + DATA.length);
  }

  @Test
  void clientThatBreaksLimitReceivesGoAway() {
    Ended ended = connection(TOO_LARGE);
    assertThat(ended.requests().toCompletableFuture())
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(StreamTcpException.class);
    assertThat(ended.sent().toCompletableFuture())
        .succeedsWithin(Duration.ofSeconds(10))
        .satisfies(
            sent -> {
              assertThat(sent.size()).isGreaterThan(FRAME_HEADER);
              assertThat(sent.apply(3)).as("GOAWAY").isEqualTo((byte) 7);
            });
  }

  @Test
  void lostConnectionIsNoFaultOfTheServer() {
    assertThat(GrpcResponses.status(new StreamTcpException("connection closed inside a frame")))
        .isEqualTo(new io.troupe.grpc.error.GrpcStatus(1, "context canceled"));
  }
}
