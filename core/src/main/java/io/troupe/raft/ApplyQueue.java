package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.Invariant;
import java.util.ArrayDeque;
import java.util.List;

/**
 * Sends committed entries to the state machine, records the applied index, and frees log memory.
 */
final class ApplyQueue {
  /** Allows the state machine to have the next batch when it has finished one. */
  private static final int MAX_BATCHES = 8;

  /**
   * Part of the log's memory for entries that every member stores. A new leader may need a few of
   * them, for followers that were behind its predecessor; older ones it reads from the disk. They
   * must be few beside the objects of the young generation, or they live until it is collected
   * twice and reach the old one (docs/decisions/0254).
   */
  private static final int STORED_PART = 512;

  private final RaftEffects effects;
  private final RaftLog log;
  private final RaftSettings settings;

  /** Last indexes of the batches that are sent and not applied, oldest first. */
  private final ArrayDeque<Long> inFlight = new ArrayDeque<>();

  private long lastSent;
  private long applied;

  ApplyQueue(RaftEffects effects, RaftLog log, RaftSettings settings, long applied) {
    this.effects = effects;
    this.log = log;
    this.settings = settings;
    this.applied = applied;
    this.lastSent = applied;
  }

  /** The applied index. */
  long applied() {
    return applied;
  }

  /** Last index that the state machine may have applied. */
  long lastSent() {
    return lastSent;
  }

  /** The state machine has applied everything up to {@code index}. */
  void applied(long index) {
    Invariant.require(
        index <= lastSent,
        "applied index above the entries sent to the state machine",
        index,
        lastSent);
    applied = Math.max(applied, index);
    while (!inFlight.isEmpty() && inFlight.getFirst() <= applied) {
      inFlight.removeFirst();
    }
    trimMemory();
  }

  /** A snapshot up to {@code index} is sent to the state machine instead of entries. */
  void restart(long index) {
    lastSent = index;
    inFlight.clear();
  }

  /**
   * Sends entries to the state machine that are committed and also durable on this member: a state
   * machine ahead of its own log could not be recovered. Only a few batches may be in flight, so
   * that other messages to the state machine never wait for a long backlog.
   */
  void applyCommitted() {
    long to = Math.min(log.commit(), log.stable());
    while (lastSent < to && inFlight.size() < MAX_BATCHES) {
      List<Entry> entries =
          log.slice(
              lastSent + 1, to + 1, settings.maxEntriesPerAppend(), settings.maxBytesPerAppend());
      lastSent += entries.size();
      inFlight.addLast(lastSent);
      effects.apply(entries);
    }
  }

  /** True if the unapplied entries fill the memory of the log. */
  boolean isLogMemoryFull() {
    trimMemory();
    return log.bytesInMemory() >= settings.maxLogBytesInMemory();
  }

  /**
   * Removes applied entries from memory until {@code bytes} of new ones fit, as far as possible.
   *
   * @return bytes that fit now; 0 or less if unapplied entries fill the memory
   */
  long makeSpace(long bytes) {
    long limit = settings.maxLogBytesInMemory();
    log.trimMemory(Math.min(applied, log.stable()), Math.max(1, limit - bytes));
    return limit - log.bytesInMemory();
  }

  /**
   * True if the memory of the log is full and will be freed without further entries, because the
   * applied index lags behind the commit index.
   */
  boolean isApplyLagging() {
    return isLogMemoryFull() && applied < Math.min(log.commit(), log.stable());
  }

  /**
   * Removes applied entries from memory that no follower needs, except for the newest. They would
   * live just long enough to fill the old generation of the heap.
   *
   * @param stored last index that every follower stores
   */
  void freeStoredByAll(long stored) {
    log.trimMemory(
        Math.min(stored, Math.min(applied, log.stable())),
        Math.max(1, settings.maxLogBytesInMemory() / STORED_PART));
  }

  private void trimMemory() {
    log.trimMemory(Math.min(applied, log.stable()), settings.maxLogBytesInMemory());
  }
}
