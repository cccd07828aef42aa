package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.apache.pekko.actor.Cancellable;
import org.apache.pekko.actor.typed.Scheduler;
import scala.concurrent.ExecutionContext;

/**
 * A call whose response depends on other clients and has no time limit. Its creator must {@link
 * #cancel} it when its client disconnects; after completion that has no effect. Thread-safe.
 */
public final class CancellableCall<T> {
  private final CompletableFuture<T> outcome = new CompletableFuture<>();
  private final CompletableFuture<Void> cancelled = new CompletableFuture<>();

  private CancellableCall() {}

  /**
   * Starts a call.
   *
   * @param limit deadline of the client; without one the call waits as long as the connection is
   *     open
   */
  static <T> CancellableCall<T> atMost(Optional<Duration> limit, Scheduler scheduler) {
    CancellableCall<T> waiting = new CancellableCall<>();
    limit.ifPresent(
        time -> {
          Cancellable end =
              scheduler.scheduleOnce(
                  time,
                  () -> waiting.cancel(Call.deadlineExceeded()),
                  ExecutionContext.parasitic$.MODULE$);
          waiting.outcome().whenComplete((done, failure) -> end.cancel());
        });
    return waiting;
  }

  /** The outcome; CANCELED or DEADLINE_EXCEEDED if the client did not wait for it (E8). */
  public CompletionStage<T> outcome() {
    return outcome;
  }

  /** The client has disconnected. */
  public void cancel() {
    cancel(Call.canceled());
  }

  private void cancel(GrpcException why) {
    if (outcome.completeExceptionally(why)) {
      cancelled.complete(null);
    }
  }

  /** Returns false if the call was cancelled before. */
  boolean succeed(T response) {
    return outcome.complete(response);
  }

  /** Returns false if the call was cancelled before. */
  boolean fail(Throwable failure) {
    return outcome.completeExceptionally(failure);
  }

  /** True when the client has disconnected or the deadline has expired. */
  boolean isCancelled() {
    return cancelled.isDone();
  }

  /** Runs {@code cleaning} if the call is or was cancelled; never otherwise. */
  void whenCancelled(Runnable cleaning) {
    CompletionStage<Void> gone = cancelled;
    gone.thenRun(cleaning);
  }
}
