package io.troupe.edge.calls;

import io.troupe.model.Refusal;
import io.troupe.protocol.RefusedException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Lets calls wait until the member is ready (B1), with a time limit: otherwise calls of
 * disconnected clients would be kept as long as there is no quorum. Waiting calls are not checked
 * one by one: all calls between two turns share a future. Thread-safe.
 */
public final class Readiness {
  private volatile boolean ready;
  private CompletableFuture<Void> older = new CompletableFuture<>();
  private CompletableFuture<Void> newer = new CompletableFuture<>();

  /** True if calls no longer need to wait. */
  public boolean isReady() {
    return ready;
  }

  /** Completes when the member is ready; fails with NO_LEADER after one to two turns. */
  public synchronized CompletionStage<Void> await() {
    return ready ? CompletableFuture.completedFuture(null) : newer;
  }

  /** Fails the calls that arrived before the last turn. */
  public void turn() {
    CompletableFuture<Void> expired;
    synchronized (this) {
      expired = older;
      older = newer;
      newer = new CompletableFuture<>();
    }
    expired.completeExceptionally(new RefusedException(Refusal.NO_LEADER));
  }

  /** Marks the member as ready. */
  public void open() {
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
