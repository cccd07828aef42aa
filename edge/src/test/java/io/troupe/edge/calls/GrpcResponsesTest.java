package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.error.GrpcStatus;
import io.troupe.testing.LoggedLines;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.http.impl.engine.http2.Http2StreamHandling;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.scaladsl.model.http2.PeerClosedStreamException;
import org.apache.pekko.stream.StreamTcpException;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.junit.jupiter.api.Test;

class GrpcResponsesTest {
  /** Clients cancel watches and renewals all the time: this is not a fault and is not logged. */
  @Test
  void streamCancelledByClientIsNotLogged() {
    GrpcStatus canceled = new GrpcStatus(GrpcStatus.CANCELED, "context canceled");
    for (Throwable left :
        List.of(
            new PeerClosedStreamException(5, "CANCEL(0x08)", 8),
            new StreamTcpException("The connection closed with error: Broken pipe"),
            Http2StreamHandling.ConnectionWasAbortedException())) {
      assertThat(GrpcResponses.status(left)).isEqualTo(canceled);
      assertThat(GrpcResponses.status(new CompletionException(left))).isEqualTo(canceled);
    }
  }

  /** With a length, or a body that is not known to be empty, it would have more than one block. */
  @Test
  void failureIsOneHeaderBlockWithoutLength() {
    HttpResponse failure =
        GrpcResponses.failure(new GrpcStatus(GrpcStatus.UNKNOWN, "etcdserver: no leader"));
    assertThat(failure.entity().isKnownEmpty()).isTrue();
    assertThat(failure.entity().getContentLengthOption()).isEmpty();
    assertThat(failure.entity().getContentType()).hasToString("application/grpc");
    assertThat(failure.getHeaders())
        .extracting(Object::toString)
        .containsExactly("grpc-status: 2", "grpc-message: etcdserver: no leader");
  }

  @Test
  void streamStoppedByShutdownIsNotLogged() {
    try (LoggedLines log = new LoggedLines()) {
      ActorTestKit kit = ActorTestKit.create();
      CompletionStage<Done> stream = Source.<Integer>maybe().runWith(Sink.ignore(), kit.system());
      kit.shutdownTestKit();
      assertThat(
              stream.handle((done, failure) -> GrpcResponses.status(failure)).toCompletableFuture())
          .succeedsWithin(Duration.ofSeconds(10))
          .isEqualTo(new GrpcStatus(GrpcStatus.UNAVAILABLE, "etcdserver: server stopped"));
      assertThat(log.with("ERROR ")).isEmpty();
    }
  }

  @Test
  void unknownFailureKeepsText() {
    assertThat(GrpcResponses.status(new IllegalStateException("broken")))
        .isEqualTo(new GrpcStatus(GrpcStatus.UNKNOWN, "broken"));
  }
}
