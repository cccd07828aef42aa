package io.troupe.grpc.service;

import io.troupe.grpc.error.GrpcException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.Scheduler;
import scala.concurrent.ExecutionContext;

/**
 * A call whose answer may take as long as others like. Whoever made it must {@link #cancel} it when
 * its client is gone; after the end that does nothing. Thread-safe.
 */
public final class CancellableCall<T> {
  private final CompletableFuture<T> outcome = new CompletableFuture<>();
  private final CompletableFuture<Void> givenUp = new CompletableFuture<>();

  private CancellableCall() {}

  /**
   * Begins to wait.
   *
   * @param limit how long the client does; none for as long as its connection is there
   */
  static <T> CancellableCall<T> atMost(Optional<Duration> limit, Scheduler scheduler) {
    CancellableCall<T> waiting = new CancellableCall<>();
    limit.ifPresent(
        time -> {
          Cancellable end =
              scheduler.scheduleOnce(
                  time,
                  () -> waiting.giveUp(Call.deadlineExceeded()),
                  ExecutionContext.parasitic$.MODULE$);
          waiting.outcome().whenComplete((done, failure) -> end.cancel());
        });
    return waiting;
  }

  /** The end; CANCELED or DEADLINE_EXCEEDED if the client did not wait for it (E8). */
  public CompletionStage<T> outcome() {
    return outcome;
  }

  /** The client is gone. */
  public void cancel() {
    giveUp(Call.canceled());
  }

  private void giveUp(GrpcException why) {
    if (outcome.completeExceptionally(why)) {
      givenUp.complete(null);
    }
  }

  /** False if the client was faster in going away. */
  boolean succeed(T answer) {
    return outcome.complete(answer);
  }

  /** False if the client was faster in going away. */
  boolean fail(Throwable failure) {
    return outcome.completeExceptionally(failure);
  }

  /** True when the client is gone: nobody wants an answer any more. */
  boolean isGivenUp() {
    return givenUp.isDone();
  }

  /** Runs {@code cleaning} when, or because, the client is gone; never otherwise. */
  void whenGivenUp(Runnable cleaning) {
    CompletionStage<Void> gone = givenUp;
    gone.thenRun(cleaning);
  }
}
