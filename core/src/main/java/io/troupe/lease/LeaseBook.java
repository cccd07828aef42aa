package io.troupe.lease;

import io.troupe.model.Lease;
import io.troupe.model.Refusal;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The granted leases. Replicated: changed only by applying entries, equal on all members. The store
 * records which keys are attached. One thread.
 */
public final class LeaseBook {
  private final Map<Long, Lease> leases = new HashMap<>();
  private final LeaseRecords records;

  /** Starts with the recorded leases. */
  public LeaseBook(Collection<Lease> kept, LeaseRecords records) {
    this.records = records;
    for (Lease lease : kept) {
      leases.put(lease.id(), lease);
    }
  }

  /** True if the lease is granted and not revoked. */
  public boolean contains(long id) {
    return leases.containsKey(id);
  }

  /** Returns the lease, or null. */
  public @Nullable Lease find(long id) {
    return leases.get(id);
  }

  /** Number of granted leases. */
  public int size() {
    return leases.size();
  }

  /** Grants a lease; returns the reason for a refusal, or null (L1). */
  public @Nullable Refusal grant(long id, long ttlSeconds) {
    if (id == 0) {
      return Refusal.LEASE_NOT_FOUND;
    }
    Refusal refusal = LeaseRules.check(ttlSeconds);
    if (refusal != null) {
      return refusal;
    }
    if (leases.containsKey(id)) {
      return Refusal.LEASE_EXISTS;
    }
    keep(new Lease(id, ttlSeconds, 0));
    return null;
  }

  /** Revokes a lease whose keys are deleted; returns the reason for a refusal, or null (L9). */
  public @Nullable Refusal revoke(long id) {
    if (leases.remove(id) == null) {
      return Refusal.LEASE_NOT_FOUND;
    }
    records.remove(id);
    return null;
  }

  /**
   * Records the remaining time of a lease (L12). An unknown lease is ignored, because it was
   * revoked meanwhile.
   *
   * @param remainingSeconds 0 deletes the checkpoint, after a renewal
   * @return true if the checkpoint was recorded
   */
  public boolean checkpoint(long id, long remainingSeconds) {
    Lease lease = leases.get(id);
    if (lease == null) {
      return false;
    }
    long left = Math.max(0, Math.min(remainingSeconds, lease.ttlSeconds()));
    keep(new Lease(id, lease.ttlSeconds(), left));
    return true;
  }

  private void keep(Lease lease) {
    leases.put(lease.id(), lease);
    records.save(lease);
  }
}
