package io.troupe.node;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Has all of the state rewritten on request (MT5), one time after the other: what was deleted since
 * the one in progress began may need another, which all share that ask meanwhile. Thread-safe.
 */
final class Defragmentation {
  private final Runnable work;
  private final Executor executor;
  private @Nullable CompletableFuture<Void> running;
  private @Nullable CompletableFuture<Void> next;

  /**
   * Begins idle.
   *
   * @param work takes as long as the state is large
   */
  Defragmentation(Runnable work, Executor executor) {
    this.work = work;
    this.executor = executor;
  }

  /** Completes when all that was deleted before this call has left the disk. */
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
