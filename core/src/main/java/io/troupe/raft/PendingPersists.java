package io.troupe.raft;

import io.troupe.model.Invariant;
import java.util.ArrayDeque;

/**
 * What the disk was asked for and has not answered, in order. Tells from an answer how far the log
 * of today is durable, although parts of what was written may have been replaced since.
 */
final class PendingPersists {
  private static final class Pending {
    final long number;
    final long term;
    final boolean install;

    /** End of the part that was in the log then and still is. */
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
  private int ticksWithoutAnswer;

  /** Nothing pending; the hard state of {@code durableTerm} is on disk. */
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

  /** Ticks since the disk last answered while it owed an answer. */
  int ticksWithoutAnswer() {
    return ticksWithoutAnswer;
  }

  /** True until the disk has answered for the last installation. */
  boolean isInstalling() {
    return queue.stream().anyMatch(pending -> pending.install);
  }

  void tick() {
    ticksWithoutAnswer = queue.isEmpty() ? 0 : ticksWithoutAnswer + 1;
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
   * The installation of a snapshot is issued: nothing that was written before is in the log now.
   *
   * @return its number
   */
  long installIssued(long term, long index) {
    truncatedFrom(1);
    queue.addLast(new Pending(++lastNumber, term, index, true));
    return lastNumber;
  }

  /** The log loses {@code index} and everything above. */
  void truncatedFrom(long index) {
    for (Pending pending : queue) {
      pending.unchangedTo = Math.min(pending.unchangedTo, index - 1);
    }
  }

  /**
   * The disk answered. An answer stands for all before the one it names.
   *
   * @return the index up to which today's log is durable by this answer
   * @throws Invariant.Broken if nothing of this number is pending
   */
  long answered(long number) {
    Invariant.require(
        !queue.isEmpty() && number >= queue.getFirst().number && number <= lastNumber,
        "disk answered what was not asked",
        number,
        lastNumber);
    long durableTo = 0;
    while (!queue.isEmpty() && queue.getFirst().number <= number) {
      Pending pending = queue.removeFirst();
      durableTo = pending.unchangedTo;
      durableTerm = pending.term;
    }
    ticksWithoutAnswer = 0;
    return durableTo;
  }
}
