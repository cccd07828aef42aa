package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import java.util.List;

/** What goes to the state machine, what it has done, and what may leave memory for it. */
final class Handout {
  private final RaftEffects effects;
  private final RaftLog log;
  private final RaftSettings settings;
  private long handedOut;
  private long applied;

  Handout(RaftEffects effects, RaftLog log, RaftSettings settings, long applied) {
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
    trimMemory();
  }

  /** A snapshot up to {@code index} goes to the state machine instead of entries. */
  void restart(long index) {
    handedOut = index;
  }

  /**
   * Hands over what is committed and durable on this member too: a state machine that is ahead of
   * its own log could not be recovered.
   */
  void handOut() {
    long to = Math.min(log.commit(), log.stable());
    while (handedOut < to) {
      List<Entry> entries =
          log.slice(
              handedOut + 1, to + 1, settings.maxEntriesPerAppend(), settings.maxBytesPerAppend());
      handedOut += entries.size();
      effects.apply(entries);
    }
  }

  /** True if the entries not applied yet fill the memory meant for the log. */
  boolean isLogMemoryFull() {
    trimMemory();
    return log.bytesInMemory() >= settings.maxLogBytesInMemory();
  }

  private void trimMemory() {
    log.trimMemory(Math.min(applied, log.stable()), settings.maxLogBytesInMemory());
  }
}
