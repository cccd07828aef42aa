package io.troupe.node;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Rewrites all of the state on request (MT5), one run at a time. A request during a run needs
 * another run for what was deleted since the current one started; all such requests share the next
 * run. Thread-safe.
 */
final class Defragmentation {
  private final Runnable work;
  private final Executor executor;
  private @Nullable CompletableFuture<Void> running;
  private @Nullable CompletableFuture<Void> next;

  /**
   * Creates an idle instance.
   *
   * @param work takes time in proportion to the size of the state
   */
  Defragmentation(Runnable work, Executor executor) {
    this.work = work;
    this.executor = executor;
  }

  /** Completes when everything that was deleted before this call is removed from disk. */
  synchronized CompletionStage<Void> request() {
    if (running == null) {
      CompletableFuture<Void> first = new CompletableFuture<>();
      start(first);
      return first;
    }
    if (next == null) {
      next = new CompletableFuture<>();
    }
    return next;
  }

  private void start(CompletableFuture<Void> asked) {
    running = asked;
    executor.execute(
        () -> {
          try {
            work.run();
          } catch (RuntimeException failure) {
            ended();
            asked.completeExceptionally(failure);
            return;
          }
          ended();
          asked.complete(null);
        });
  }

  private synchronized void ended() {
    running = null;
    CompletableFuture<Void> waiting = next;
    next = null;
    if (waiting != null) {
      start(waiting);
    }
  }
}
