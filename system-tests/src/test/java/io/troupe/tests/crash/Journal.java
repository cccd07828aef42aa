package io.troupe.tests.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The shared records of the clients of a campaign: their writes and acknowledgements. */
final class Journal {
  private final List<Write> writes = new ArrayList<>();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong compacted = new AtomicLong();
  private final AtomicLong compactionAsked = new AtomicLong();
  private final NavigableMap<Long, Long> granted = new TreeMap<>();
  private final Set<Long> mayBeGone = ConcurrentHashMap.newKeySet();

  /** Notes a write that is about to be sent. */
  synchronized Write begin(String id, Write.Action action) {
    Write write = new Write(id, action, acknowledged.get());
    writes.add(write);
    if (action instanceof Write.Revoke revoke) {
      mayBeGone.add(revoke.lease());
    }
    return write;
  }

  /** Notes the response. */
  void acknowledged(Write write, long revision) {
    write.acknowledged(revision);
    acknowledged.accumulateAndGet(revision, Math::max);
  }

  /** How many of the writes noted since {@link #take} are acknowledged. */
  synchronized long acknowledgedSinceTaken() {
    return writes.stream().filter(write -> write.outcome == Write.Outcome.ACKNOWLEDGED).count();
  }

  /** The greatest revision in a response. */
  long acknowledged() {
    return acknowledged.get();
  }

  /** Takes the writes noted since the last call. */
  synchronized List<Write> take() {
    List<Write> taken = List.copyOf(writes);
    writes.clear();
    return taken;
  }

  /** Records an acknowledged grant; {@code mayRunOut} if no client renews it. */
  synchronized void granted(long lease, long ttlSeconds, boolean mayRunOut) {
    granted.put(lease, ttlSeconds);
    if (mayRunOut) {
      mayBeGone.add(lease);
    }
  }

  /** Leases that must still exist, with their TTL. */
  synchronized NavigableMap<Long, Long> livingLeases() {
    NavigableMap<Long, Long> living = new TreeMap<>(granted);
    living.keySet().removeAll(mayBeGone);
    return living;
  }

  /** Leases that may expire. */
  boolean mayEnd(long lease) {
    return mayBeGone.contains(lease);
  }

  void compactionAsked(long revision) {
    compactionAsked.accumulateAndGet(revision, Math::max);
  }

  void compacted(long revision) {
    compacted.accumulateAndGet(revision, Math::max);
  }

  /** The compacted revision is at least this (acknowledged). */
  long compacted() {
    return compacted.get();
  }

  /** The compacted revision is at most this. */
  long compactionAsked() {
    return compactionAsked.get();
  }
}
