package io.troupe.lease;

import io.troupe.model.Lease;
import io.troupe.model.Refusal;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The granted leases, replicated: changed only by applying entries, equal on all members. Which
 * keys are attached is the store's knowledge. One thread.
 */
public final class LeaseBook {
  private final Map<Long, Lease> leases = new HashMap<>();
  private final LeaseRecords records;

  /** Begins with the leases that were kept. */
  public LeaseBook(Collection<Lease> kept, LeaseRecords records) {
    this.records = records;
    for (Lease lease : kept) {
      leases.put(lease.id(), lease);
    }
  }

  /** True when the lease is granted and not revoked. */
  public boolean contains(long id) {
    return leases.containsKey(id);
  }

  /** The lease, or null. */
  public @Nullable Lease find(long id) {
    return leases.get(id);
  }

  /** Number of granted leases. */
  public int size() {
    return leases.size();
  }

  /** Grants a lease; says why not, or null (L1). */
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

  /** Ends a lease whose keys are deleted; says why not, or null (L9). */
  public @Nullable Refusal revoke(long id) {
    if (leases.remove(id) == null) {
      return Refusal.LEASE_NOT_FOUND;
    }
    records.remove(id);
    return null;
  }

  /**
   * Remembers what was left (L12). An unknown lease is passed over: it was revoked meanwhile.
   *
   * @param remainingSeconds 0 forgets the checkpoint, after a renewal
   * @return true when something was remembered
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
