package io.troupe.mvcc;

import io.troupe.model.MemoryBudget;

/** Ends a walk soon after its client has left, also one that gathers nothing. For one thread. */
final class WalkSteps {
  private static final int BETWEEN_CHECKS = 1024;

  private final MemoryBudget.Share share;
  private int steps;

  /**
   * Of a walk that begins.
   *
   * @param share closed by its owner when the client has left
   */
  WalkSteps(MemoryBudget.Share share) {
    this.share = share;
  }

  /**
   * One key more.
   *
   * @throws MemoryBudget.Exceeded if nobody waits for the result any more
   */
  void step() {
    if (++steps % BETWEEN_CHECKS == 0) {
      share.requireOpen();
    }
  }
}
