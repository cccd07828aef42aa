package io.troupe.grpc.error;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletionException;
import org.apache.pekko.http.scaladsl.model.http2.PeerClosedStreamException;
import org.junit.jupiter.api.Test;

class GrpcErrorsTest {
  /** Clients leave watches and renewals all the time: that is no fault, nothing to log. */
  @Test
  void aStreamThatItsClientCancelsIsNoFaultOfOurs() {
    Throwable left = new PeerClosedStreamException(5, "CANCEL(0x08)", 8);
    GrpcStatus canceled = new GrpcStatus(GrpcStatus.CANCELED, "context canceled");
    assertThat(GrpcErrors.of(left)).isEqualTo(canceled);
    assertThat(GrpcErrors.of(new CompletionException(left))).isEqualTo(canceled);
  }

  @Test
  void whateverIsNotKnownKeepsItsText() {
    assertThat(GrpcErrors.of(new IllegalStateException("broken")))
        .isEqualTo(new GrpcStatus(GrpcStatus.UNKNOWN, "broken"));
  }
}
