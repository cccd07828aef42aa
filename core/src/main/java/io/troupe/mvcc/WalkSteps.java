package io.troupe.mvcc;

import io.troupe.model.MemoryBudget;

/**
 * Stops a walk soon after its client has disconnected, also a walk that returns nothing. For one
 * thread.
 */
final class WalkSteps {
  private static final int BETWEEN_CHECKS = 1024;

  private final MemoryBudget.Share share;
  private int steps;

  /**
   * Prepares a new walk.
   *
   * @param share closed by its owner when the client has disconnected
   */
  WalkSteps(MemoryBudget.Share share) {
    this.share = share;
  }

  /**
   * Counts one key.
   *
   * @throws MemoryBudget.Exceeded if the client no longer waits for the result
   */
  void step() {
    if (++steps % BETWEEN_CHECKS == 0) {
      share.requireOpen();
    }
  }
}
