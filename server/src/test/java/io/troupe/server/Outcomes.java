package io.troupe.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Refusal;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** Outcomes of calls. */
final class Outcomes {
  private Outcomes() {}

  static <T> T now(CompletionStage<T> stage) throws Exception {
    return stage.toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  static void refused(CompletionStage<?> stage, Refusal reason) {
    refused(stage, GrpcErrors.of(reason));
  }

  static void refused(CompletionStage<?> stage, GrpcStatus status) {
    Throwable failure = catchThrowable(() -> now(stage));
    assertThat(failure).isNotNull();
    assertThat(GrpcErrors.of(failure)).isEqualTo(status);
  }
}
