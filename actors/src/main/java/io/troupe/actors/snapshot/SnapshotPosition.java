package io.troupe.actors.snapshot;

import io.troupe.model.Bytes;
import io.troupe.mvcc.FrozenHistory;
import io.troupe.mvcc.MetaRows;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import java.nio.file.Path;

/**
 * Position of a store that is not being written.
 *
 * @param index last applied index, 0 if the store is empty
 * @param term term of that entry
 * @param membership as of that index, encoded; empty if there is none
 */
record SnapshotPosition(long index, long term, Bytes membership) {
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);

  /**
   * Reads the position. Changes no data in the directory.
   *
   * @throws io.troupe.mvcc.StoreException if it cannot be read
   */
  static SnapshotPosition of(Path content) {
    try (RocksStore store = RocksStore.openReadOnly(content, SMALL)) {
      FrozenHistory at = FrozenHistory.of(store);
      Bytes membership = MetaRows.membership(store);
      return new SnapshotPosition(
          at.appliedIndex(), at.appliedTerm(), membership == null ? Bytes.EMPTY : membership);
    }
  }
}
