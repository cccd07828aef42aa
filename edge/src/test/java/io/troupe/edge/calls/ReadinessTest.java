package io.troupe.edge.calls;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.error.GrpcErrors;
import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** B1. */
class ReadinessTest {
  private final Readiness readiness = new Readiness();

  private CompletableFuture<Void> call() {
    return readiness.await().toCompletableFuture();
  }

  @Test
  void callsWaitUntilTheMemberIsReady() {
    CompletableFuture<Void> early = call();
    readiness.turn();
    CompletableFuture<Void> later = call();
    assertThat(early).isNotDone();
    assertThat(readiness.isReady()).isFalse();
    readiness.open();
    assertThat(early).isCompleted();
    assertThat(later).isCompleted();
    assertThat(call()).isCompleted();
    assertThat(readiness.isReady()).isTrue();
  }

  @Test
  void callWaitsOneToTwoTurns() {
    CompletableFuture<Void> first = call();
    readiness.turn();
    CompletableFuture<Void> second = call();
    assertThat(first).isNotDone();
    readiness.turn();
    assertThat(first)
        .isCompletedExceptionally()
        .satisfies(
            failed ->
                assertThat(GrpcErrors.of(failed.handle((ok, failure) -> failure).join()))
                    .isEqualTo(GrpcErrors.of(new RefusedException(Refusal.NO_LEADER))));
    assertThat(second).isNotDone();
    readiness.open();
    assertThat(second).isCompleted();
  }
}
