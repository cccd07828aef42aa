package io.troupe.lease;

import io.troupe.model.Lease;
import io.troupe.model.Operation.LeaseCheckpoint.Remaining;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeSet;

/**
 * How much is left of each lease, counted by the leader alone. It proposes nothing and deletes
 * nothing: {@link #takeExpired} names leases whose revoke is to be proposed. One thread.
 *
 * <p>Its time moves only by {@link #advance}: the caller hands in time it can vouch for (see {@link
 * PauseAwareClock}), so that time in which the process did not run never ends a lease.
 */
public final class LeaseCountdown {
  /** From this many leases on a new leader spreads their ends (L13). */
  static final int SPREAD_FROM = 1000;

  /** Most leases that then end within a second (L13). */
  static final int SPREAD_PER_SECOND = 750;

  /** A revoke that was not confirmed for this long is named again (L10). */
  static final long RETRY_MS = 3000;

  /** What a renewal came to (L5). */
  public enum Renewal {
    /** The full time counts again. */
    RENEWED,
    /**
     * The full time counts again here, but less is replicated, from which a later leader would
     * count: that is to be forgotten before the owner is told (L12). Then tell {@link #forgotten}.
     */
    CHECKPOINTED,
    /** It has run out but is not revoked yet: wait for that, then tell 0. */
    EXPIRED,
    /** There is no such lease. */
    UNKNOWN
  }

  /** One lease; {@code endMs} and {@code start} change only while it is outside the sorted sets. */
  private static final class Counted {
    final long id;
    final long ttlSeconds;
    long endMs;

    /**
     * Counts all starts: of leases that end in the same millisecond the first started ends first.
     */
    long start;

    long checkpointMs;

    /** Whether less than all may be replicated, or on its way into the log. */
    boolean checkpointed;

    /** How often that is being forgotten right now. */
    int forgetting;

    Counted(long id, long ttlSeconds) {
      this.id = id;
      this.ttlSeconds = ttlSeconds;
    }
  }

  private static final Comparator<Counted> BY_END =
      Comparator.comparingLong((Counted lease) -> lease.endMs)
          .thenComparingLong(lease -> lease.start);
  private static final Comparator<Counted> BY_CHECKPOINT =
      Comparator.comparingLong((Counted lease) -> lease.checkpointMs)
          .thenComparingLong(lease -> lease.id);

  private final Map<Long, Counted> byId = new HashMap<>();
  private final TreeSet<Counted> running = new TreeSet<>(BY_END);
  private final Map<Long, Long> revokeAgainMs = new HashMap<>();
  private final TreeSet<Counted> expired = new TreeSet<>(BY_END);
  private final TreeSet<Counted> checkpoints = new TreeSet<>(BY_CHECKPOINT);
  private final long checkpointEveryMs;
  private long nowMs;
  private long starts;

  /**
   * Begins without a lease.
   *
   * @param checkpointEveryMs how often what is left of a long lease is to be replicated, and what a
   *     long one is (L12); 0 is never
   */
  public LeaseCountdown(long checkpointEveryMs) {
    this.checkpointEveryMs = checkpointEveryMs;
  }

  /** Lets time pass, 0 or more milliseconds. */
  public void advance(long vouchedMs) {
    nowMs += Math.max(0, vouchedMs);
    while (!running.isEmpty() && running.first().endMs <= nowMs) {
      Counted lease = running.pollFirst();
      expired.add(lease);
    }
  }

  /**
   * Begins to count: this member leads now. Each lease gets its checkpointed or full time and the
   * extension on top (L11); with many leases their ends are spread (L13).
   *
   * @param leases all granted leases
   * @param extendMs an election timeout
   */
  public void promote(Collection<Lease> leases, long extendMs) {
    demote();
    List<Counted> counted = new ArrayList<>(leases.size());
    for (Lease lease : leases) {
      Counted next = new Counted(lease.id(), lease.ttlSeconds());
      next.endMs = nowMs + 1000 * lease.countFromSeconds() + extendMs;
      next.checkpointed = lease.checkpointSeconds() > 0;
      counted.add(next);
    }
    if (counted.size() >= SPREAD_FROM) {
      counted.sort(BY_END);
      for (int i = SPREAD_PER_SECOND; i < counted.size(); i++) {
        Counted lease = counted.get(i);
        lease.endMs = Math.max(lease.endMs, counted.get(i - SPREAD_PER_SECOND).endMs + 1000);
      }
    }
    for (Counted lease : counted) {
      byId.put(lease.id, lease);
      run(lease);
    }
  }

  /** Stops counting: this member leads no more. */
  public void demote() {
    byId.clear();
    running.clear();
    expired.clear();
    checkpoints.clear();
    revokeAgainMs.clear();
  }

  /** A lease was granted by an applied entry. */
  public void granted(long id, long ttlSeconds) {
    revoked(id);
    Counted lease = new Counted(id, ttlSeconds);
    byId.put(id, lease);
    start(lease);
  }

  /** A lease was revoked by an applied entry. */
  public void revoked(long id) {
    Counted lease = byId.remove(id);
    if (lease != null) {
      running.remove(lease);
      expired.remove(lease);
      checkpoints.remove(lease);
      revokeAgainMs.remove(id);
    }
  }

  /** Gives a lease its full time again, unless it has run out (L5). */
  public Renewal renew(long id) {
    Counted lease = byId.get(id);
    if (lease == null) {
      return Renewal.UNKNOWN;
    }
    if (lease.endMs <= nowMs) {
      return Renewal.EXPIRED;
    }
    running.remove(lease);
    checkpoints.remove(lease);
    start(lease);
    if (!lease.checkpointed) {
      return Renewal.RENEWED;
    }
    lease.forgetting++;
    return Renewal.CHECKPOINTED;
  }

  /**
   * An attempt to have a checkpoint forgotten has ended.
   *
   * @param certain true when it was applied; otherwise the checkpoint may still be there
   */
  public void forgotten(long id, boolean certain) {
    Counted lease = byId.get(id);
    if (lease != null) {
      lease.forgetting = Math.max(0, lease.forgetting - 1);
      lease.checkpointed &= !certain;
    }
  }

  /**
   * A checkpoint was applied, perhaps one of an earlier leader. One that forgot what was left was
   * made for a renewal of which this leader may not know: the lease has its full time again.
   *
   * @param remainingSeconds 0 when it was forgotten
   */
  public void checkpointed(long id, long remainingSeconds) {
    Counted lease = byId.get(id);
    if (lease == null) {
      return;
    }
    if (remainingSeconds > 0) {
      lease.checkpointed = true;
    } else if (lease.endMs < nowMs + 1000 * lease.ttlSeconds) {
      running.remove(lease);
      expired.remove(lease);
      checkpoints.remove(lease);
      revokeAgainMs.remove(id);
      start(lease);
    }
  }

  private void start(Counted lease) {
    lease.endMs = nowMs + 1000 * lease.ttlSeconds;
    run(lease);
  }

  private void run(Counted lease) {
    lease.start = ++starts;
    running.add(lease);
    scheduleCheckpoint(lease);
  }

  private void scheduleCheckpoint(Counted lease) {
    if (checkpointEveryMs > 0 && lease.endMs - nowMs > checkpointEveryMs) {
      lease.checkpointMs = nowMs + checkpointEveryMs;
      checkpoints.add(lease);
    }
  }

  /**
   * Names leases that have run out and whose revoke is to be proposed now, longest over first. One
   * that was named is named again only after three seconds without {@link #revoked} (L10).
   *
   * @param max most ids
   */
  public List<Long> takeExpired(int max) {
    List<Long> due = new ArrayList<>();
    for (Counted lease : expired) {
      if (due.size() >= max) {
        break;
      }
      Long again = revokeAgainMs.get(lease.id);
      if (again == null || again <= nowMs) {
        revokeAgainMs.put(lease.id, nowMs + RETRY_MS);
        due.add(lease.id);
      }
    }
    return due;
  }

  /**
   * Names long leases whose remaining time is to be replicated now, in whole seconds (L12). A lease
   * that was renewed and whose checkpoint is being forgotten is passed over until its next time.
   *
   * @param max most leases
   */
  public List<Remaining> takeCheckpoints(int max) {
    List<Remaining> due = new ArrayList<>();
    while (due.size() < max
        && !checkpoints.isEmpty()
        && checkpoints.first().checkpointMs <= nowMs) {
      Counted lease = checkpoints.pollFirst();
      if (lease != null && lease.endMs > nowMs) {
        if (lease.forgetting == 0) {
          lease.checkpointed = true;
          // Rounded up: a checkpoint never takes time away.
          due.add(new Remaining(lease.id, (lease.endMs - nowMs + 999) / 1000));
        }
        scheduleCheckpoint(lease);
      }
    }
    return due;
  }

  /** What is left in milliseconds, 0 or less when it has run out; empty when unknown (L7). */
  public OptionalLong remainingMs(long id) {
    Counted lease = byId.get(id);
    return lease == null ? OptionalLong.empty() : OptionalLong.of(lease.endMs - nowMs);
  }

  /** All ids, ascending by what is left (L8); if equal, in the order in which their time began. */
  public List<Long> idsByRemaining() {
    List<Long> ids = new ArrayList<>(byId.size());
    expired.forEach(lease -> ids.add(lease.id));
    running.forEach(lease -> ids.add(lease.id));
    return ids;
  }
}
