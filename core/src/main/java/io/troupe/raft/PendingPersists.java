package io.troupe.raft;

import java.util.ArrayDeque;

/**
 * What the disk was asked for and has not answered, in order. Tells from an answer how far the log
 * of today is durable, although parts of what was written may have been replaced since.
 */
final class PendingPersists {
  private static final class Pending {
    final long term;
    final long lastEntry;
    final long logEnd;
    final boolean install;

    /** End of the part that was in the log then and still is. */
    long unchangedTo;

    Pending(long term, long lastEntry, long logEnd, boolean install) {
      this.term = term;
      this.install = install;
      this.lastEntry = lastEntry;
      this.logEnd = logEnd;
      this.unchangedTo = logEnd;
    }

    boolean isAnsweredBy(long answeredTerm, long answeredIndex) {
      return term == answeredTerm
          && (lastEntry == answeredIndex || (lastEntry == 0 && logEnd == answeredIndex));
    }
  }

  private final ArrayDeque<Pending> queue = new ArrayDeque<>();
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

  void tick() {
    ticksWithoutAnswer = queue.isEmpty() ? 0 : ticksWithoutAnswer + 1;
  }

  /**
   * A persist was issued.
   *
   * @param lastEntry index of its last entry, 0 without entries
   * @param logEnd end of the log at that moment
   */
  void issued(long term, long lastEntry, long logEnd) {
    queue.addLast(new Pending(term, lastEntry, logEnd, false));
  }

  /**
   * The installation of a snapshot was issued: nothing that was written before is in the log now.
   */
  void installIssued(long term, long index) {
    truncatedFrom(1);
    queue.addLast(new Pending(term, index, index, true));
  }

  /** True until the disk has answered for the last installation. */
  boolean isInstalling() {
    return queue.stream().anyMatch(pending -> pending.install);
  }

  /** The log loses {@code index} and everything above. */
  void truncatedFrom(long index) {
    for (Pending pending : queue) {
      pending.unchangedTo = Math.min(pending.unchangedTo, index - 1);
    }
  }

  /**
   * The disk answered. An answer stands for all persists before the one it names.
   *
   * @return the index up to which today's log is durable by this answer; -1 if nothing like it is
   *     pending
   */
  long answered(long term, long lastIndex) {
    int answered = 0;
    boolean found = false;
    for (Pending pending : queue) {
      answered++;
      if (pending.isAnsweredBy(term, lastIndex)) {
        found = true;
        break;
      }
    }
    if (!found) {
      return -1;
    }
    long durableTo = 0;
    for (int i = 0; i < answered; i++) {
      Pending pending = queue.removeFirst();
      durableTo = pending.unchangedTo;
      durableTerm = pending.term;
    }
    ticksWithoutAnswer = 0;
    return durableTo;
  }
}
