package io.troupe.grpc.http;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Calls that come before the member is ready wait (B1), but not forever: who gave up would be kept
 * as long as there is no quorum. Waiting calls are not checked one by one: all that came between
 * two turns share a future. Thread-safe.
 */
final class Readiness {
  private volatile boolean ready;
  private CompletableFuture<Void> older = new CompletableFuture<>();
  private CompletableFuture<Void> newer = new CompletableFuture<>();

  /** True if nothing needs to wait any more. */
  boolean isReady() {
    return ready;
  }

  /** Completes when the member is ready; fails with NO_LEADER after one to two turns. */
  synchronized CompletionStage<Void> await() {
    return ready ? CompletableFuture.completedFuture(null) : newer;
  }

  /** Ends the wait of those who came before the last turn. */
  void turn() {
    CompletableFuture<Void> over;
    synchronized (this) {
      over = older;
      older = newer;
      newer = new CompletableFuture<>();
    }
    over.completeExceptionally(new RefusedException(Refusal.NO_LEADER));
  }

  /** The member is ready. */
  void open() {
    CompletableFuture<Void> first;
    CompletableFuture<Void> second;
    synchronized (this) {
      ready = true;
      first = older;
      second = newer;
    }
    first.complete(null);
    second.complete(null);
  }
}
