package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Space;

/**
 * Which versions of a key a compaction removes (C2), collected in a batch. The caller visits the
 * versions of a key from the newest to the oldest and begins with the kept one: the newest that is
 * not above the compacted revision.
 */
final class VersionRemoval {
  private final StoreBatch batch;
  private final long target;
  private final int max;

  /**
   * Collects removals.
   *
   * @param target compacted revision
   * @param max maximum number of versions, 1 or more; a key that ends may exceed it by one
   */
  VersionRemoval(StoreBatch batch, long target, int max) {
    this.batch = batch;
    this.target = target;
    this.max = max;
  }

  boolean isFull() {
    return batch.changes().size() >= 2 * max;
  }

  /** Visits a version that is older than the kept one. */
  void older(Bytes row) {
    // Changes at the compacted revision itself stay complete: a watch may still start there.
    if (StoreKeys.main(row) < target) {
      remove(row);
    }
  }

  /**
   * Ends a key whose older versions were all visited.
   *
   * @param kept its kept version
   */
  void end(Bytes kept) {
    // A tombstone at the compacted revision stays for the same reason (C2). An older tombstone is
    // removed last: if the removal stops before that, the tombstone still leads to the rest of the
    // key.
    if (StoreKeys.isTombstone(kept) && StoreKeys.main(kept) < target) {
      remove(kept);
    }
  }

  private void remove(Bytes row) {
    batch.delete(Space.KEY, row);
    batch.delete(Space.REV, StoreKeys.revision(StoreKeys.main(row), StoreKeys.sub(row)));
  }
}
