package io.troupe.grpc.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.error.GrpcStatus;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.apache.pekko.http.impl.engine.http2.Http2StreamHandling;
import org.apache.pekko.http.scaladsl.model.http2.PeerClosedStreamException;
import org.apache.pekko.stream.StreamTcpException;
import org.junit.jupiter.api.Test;

class GrpcResponsesTest {
  /** Clients leave watches and renewals all the time: that is no fault, nothing to log. */
  @Test
  void aStreamThatItsClientCancelsIsNoFaultOfOurs() {
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

  @Test
  void whateverIsNotKnownKeepsItsText() {
    assertThat(GrpcResponses.status(new IllegalStateException("broken")))
        .isEqualTo(new GrpcStatus(GrpcStatus.UNKNOWN, "broken"));
  }
}
