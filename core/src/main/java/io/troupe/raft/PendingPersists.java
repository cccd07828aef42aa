package io.troupe.raft;

import io.troupe.model.Invariant;
import java.util.ArrayDeque;

/**
 * The persists that the disk has not completed, in order. Computes from a completion how much of
 * the current log is durable, although parts of the written entries may have been replaced since.
 */
final class PendingPersists {
  private static final class Pending {
    final long number;
    final long term;
    final boolean install;

    /** End of the part of the written log that is still in the log. */
    long unchangedTo;

    Pending(long number, long term, long logEnd, boolean install) {
      this.number = number;
      this.term = term;
      this.install = install;
      this.unchangedTo = logEnd;
    }
  }

  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
  private long lastNumber;
  private long durableTerm;
  private int ticksWithoutCompletion;

  /** Nothing is pending; the hard state of {@code durableTerm} is on disk. */
  PendingPersists(long durableTerm) {
    this.durableTerm = durableTerm;
  }

  boolean isEmpty() {
    return queue.isEmpty();
  }

  /** The newest term whose hard state is durable. */
  long durableTerm() {
    return durableTerm;
  }

  /** Ticks since the disk last completed a persist while others are pending. */
  int ticksWithoutCompletion() {
    return ticksWithoutCompletion;
  }

  /** True until the disk has completed the last installation of a snapshot. */
  boolean isInstalling() {
    return queue.stream().anyMatch(pending -> pending.install);
  }

  void tick() {
    ticksWithoutCompletion = queue.isEmpty() ? 0 : ticksWithoutCompletion + 1;
  }

  /**
   * A persist is issued.
   *
   * @param logEnd end of the log at this moment
   * @return its number
   */
  long issued(long term, long logEnd) {
    queue.addLast(new Pending(++lastNumber, term, logEnd, false));
    return lastNumber;
  }

  /**
   * The installation of a snapshot is issued: no entry written before is in the log any more.
   *
   * @return its number
   */
  long installIssued(long term, long index) {
    truncatedFrom(1);
    queue.addLast(new Pending(++lastNumber, term, index, true));
    return lastNumber;
  }

  /** The log is truncated from {@code index} on. */
  void truncatedFrom(long index) {
    for (Pending pending : queue) {
      pending.unchangedTo = Math.min(pending.unchangedTo, index - 1);
    }
  }

  /**
   * The disk completed a persist and all before it.
   *
   * @return the index up to which the current log is durable by this completion
   * @throws Invariant.Broken if no persist of this number is pending
   */
  long completed(long number) {
    Invariant.require(
        !queue.isEmpty() && number >= queue.getFirst().number && number <= lastNumber,
        "disk completed a persist that is not pending",
        number,
        lastNumber);
    long durableTo = 0;
    while (!queue.isEmpty() && queue.getFirst().number <= number) {
      Pending pending = queue.removeFirst();
      durableTo = pending.unchangedTo;
      durableTerm = pending.term;
    }
    ticksWithoutCompletion = 0;
    return durableTo;
  }
}
