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
 * Counts the remaining time of each lease; used by the leader alone. It proposes nothing and
 * deletes nothing: {@link #takeExpired} returns the leases whose revoke must be proposed. One
 * thread.
 *
 * <p>Its time advances only by {@link #advance}. The caller passes only time in which the process
 * surely ran (see {@link PauseAwareClock}), so a pause of the process never expires a lease.
 */
public final class LeaseCountdown {
  /** From this number of leases on, a new leader spreads their expiry (L13). */
  static final int SPREAD_FROM = 1000;

  /** Maximum number of leases that then expire within a second (L13). */
  static final int SPREAD_PER_SECOND = 750;

  /** A revoke that is not confirmed within this time is returned again (L10). */
  static final long RETRY_MS = 3000;

  /** Outcome of a renewal (L5). */
  public enum Renewal {
    /** The full time counts again. */
    RENEWED,
    /**
     * The full time counts again here, but a lower remaining time is replicated, from which a later
     * leader would count. That checkpoint must be deleted before the owner of the lease receives a
     * response (L12). Call {@link #forgotten} afterwards.
     */
    CHECKPOINTED,
    /** The lease expired but is not revoked yet: wait for the revoke, then return the TTL 0. */
    EXPIRED,
    /** The lease does not exist. */
    UNKNOWN
  }

  /** One lease; {@code endMs} and {@code start} change only while it is outside the sorted sets. */
  private static final class Counted {
    final long id;
    final long ttlSeconds;
    long endMs;

    /**
     * Sequence number of the start: of leases that expire in the same millisecond, the one that
     * started first expires first.
     */
    long start;

    long checkpointMs;

    /** True if a remaining time below the full one may be replicated, or is proposed. */
    boolean checkpointed;

    /** Number of attempts in flight to delete the checkpoint. */
    int forgetting;

    Counted(long id, long ttlSeconds) {
      this.id = id;
      this.ttlSeconds = ttlSeconds;
    }
  }

  // Each renewal compares a dozen times, so this is one method without a chain of objects.
  private static final Comparator<Counted> BY_END =
      (a, b) ->
          a.endMs == b.endMs ? Long.compare(a.start, b.start) : Long.compare(a.endMs, b.endMs);
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
   * Starts without leases.
   *
   * @param checkpointEveryMs interval at which the remaining time of a long lease is replicated,
   *     and the length from which a lease is long (L12); 0 disables checkpoints
   */
  public LeaseCountdown(long checkpointEveryMs) {
    this.checkpointEveryMs = checkpointEveryMs;
  }

  /** Advances the time by 0 or more milliseconds. */
  public void advance(long vouchedMs) {
    nowMs += Math.max(0, vouchedMs);
    while (!running.isEmpty() && running.first().endMs <= nowMs) {
      Counted lease = running.pollFirst();
      expired.add(lease);
    }
  }

  /**
   * Starts to count because this member now leads. Each lease gets its checkpointed or full time
   * and the extension on top (L11); if there are many leases, their expiry is spread (L13).
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

  /** Stops counting because this member no longer leads. */
  public void demote() {
    byId.clear();
    running.clear();
    expired.clear();
    checkpoints.clear();
    revokeAgainMs.clear();
  }

  /** An applied entry granted a lease. */
  public void granted(long id, long ttlSeconds) {
    revoked(id);
    Counted lease = new Counted(id, ttlSeconds);
    byId.put(id, lease);
    start(lease);
  }

  /** An applied entry revoked a lease. */
  public void revoked(long id) {
    Counted lease = byId.remove(id);
    if (lease != null) {
      running.remove(lease);
      expired.remove(lease);
      checkpoints.remove(lease);
      revokeAgainMs.remove(id);
    }
  }

  /** Gives a lease its full time again unless it expired (L5). */
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
   * An attempt to delete a checkpoint finished.
   *
   * @param certain true if it was applied; otherwise the checkpoint may still exist
   */
  public void forgotten(long id, boolean certain) {
    Counted lease = byId.get(id);
    if (lease != null) {
      lease.forgetting = Math.max(0, lease.forgetting - 1);
      lease.checkpointed &= !certain;
    }
  }

  /**
   * A checkpoint was applied, perhaps one of an earlier leader. A checkpoint of 0 seconds was made
   * for a renewal that this leader may not know about, so the lease gets its full time again.
   *
   * @param remainingSeconds 0 if the checkpoint was deleted
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
   * Returns leases that expired and whose revoke must be proposed now, in the order of expiry. A
   * lease is returned again only after three seconds without {@link #revoked} (L10).
   *
   * @param max maximum number of ids
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
   * Returns long leases whose remaining time must be replicated now, in whole seconds (L12). A
   * renewed lease whose checkpoint is being deleted is skipped until its next time.
   *
   * @param max maximum number of leases
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
          // Rounded up, so that a checkpoint never shortens a lease.
          due.add(new Remaining(lease.id, (lease.endMs - nowMs + 999) / 1000));
        }
        scheduleCheckpoint(lease);
      }
    }
    return due;
  }

  /**
   * Remaining time in milliseconds, 0 or less if the lease expired; empty if it is unknown (L7).
   */
  public OptionalLong remainingMs(long id) {
    Counted lease = byId.get(id);
    return lease == null ? OptionalLong.empty() : OptionalLong.of(lease.endMs - nowMs);
  }

  /**
   * All ids, ascending by remaining time (L8); if equal, in the order in which their time started.
   */
  public List<Long> idsByRemaining() {
    List<Long> ids = new ArrayList<>(byId.size());
    expired.forEach(lease -> ids.add(lease.id));
    running.forEach(lease -> ids.add(lease.id));
    return ids;
  }
}
