package io.troupe.lease;

import io.troupe.model.Lease;

/** Where grants are kept. Writes join the batch of the entry that is being applied. */
public interface LeaseRecords {
  /** Keeps a lease; replaces what was kept under its id. */
  void save(Lease lease);

  /** Forgets a lease. */
  void remove(long id);
}
