package io.troupe.lease;

import io.troupe.model.Lease;

/** Storage of grants. Writes join the batch of the entry that is being applied. */
public interface LeaseRecords {
  /** Saves a lease; replaces an earlier record with the same id. */
  void save(Lease lease);

  /** Removes a lease. */
  void remove(long id);
}
