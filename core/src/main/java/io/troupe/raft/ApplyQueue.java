package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import java.util.ArrayDeque;
import java.util.List;

/** What goes to the state machine, what it has done, and what may leave memory for it. */
final class ApplyQueue {
  /** So that the state machine has the next batch when it has finished one. */
  private static final int MAX_BATCHES = 8;

  private final RaftEffects effects;
  private final RaftLog log;
  private final RaftSettings settings;

  /** Last indexes of the batches that are handed out and not applied, oldest first. */
  private final ArrayDeque<Long> inFlight = new ArrayDeque<>();

  private long handedOut;
  private long applied;

  ApplyQueue(RaftEffects effects, RaftLog log, RaftSettings settings, long applied) {
    this.effects = effects;
    this.log = log;
    this.settings = settings;
    this.applied = applied;
    this.handedOut = applied;
  }

  /** Highest index the state machine holds. */
  long applied() {
    return applied;
  }

  /** The state machine holds everything up to {@code index}. */
  void applied(long index) {
    Invariant.require(index <= handedOut, "applied what was not handed out", index, handedOut);
    applied = Math.max(applied, index);
    while (!inFlight.isEmpty() && inFlight.getFirst() <= applied) {
      inFlight.removeFirst();
    }
    trimMemory();
  }

  /** A snapshot up to {@code index} goes to the state machine instead of entries. */
  void restart(long index) {
    handedOut = index;
    inFlight.clear();
  }

  /**
   * Passes on what is committed and durable on this member too: a state machine that is ahead of
   * its own log could not be recovered. Some batches ahead of what is applied, no more: what else
   * is sent to the state machine never waits behind a long backlog.
   */
  void handOut() {
    long to = Math.min(log.commit(), log.stable());
    while (handedOut < to && inFlight.size() < MAX_BATCHES) {
      List<Entry> entries =
          log.slice(
              handedOut + 1, to + 1, settings.maxEntriesPerAppend(), settings.maxBytesPerAppend());
      handedOut += entries.size();
      inFlight.addLast(handedOut);
      effects.apply(entries);
    }
  }

  /** True if the entries not applied yet fill the memory meant for the log. */
  boolean isLogMemoryFull() {
    trimMemory();
    return log.bytesInMemory() >= settings.maxLogBytesInMemory();
  }

  /**
   * Lets applied entries leave memory until {@code bytes} of new ones fit, as far as possible.
   *
   * @return bytes that fit now; 0 or less if entries not applied yet take all
   */
  long makeSpace(long bytes) {
    long limit = settings.maxLogBytesInMemory();
    log.trimMemory(Math.min(applied, log.stable()), Math.max(1, limit - bytes));
    return limit - log.bytesInMemory();
  }

  /**
   * True if the memory meant for the log is full and will be free again without more entries: the
   * state machine lags behind what is committed.
   */
  boolean isApplyLagging() {
    return isLogMemoryFull() && applied < Math.min(log.commit(), log.stable());
  }

  private void trimMemory() {
    log.trimMemory(Math.min(applied, log.stable()), settings.maxLogBytesInMemory());
  }
}
