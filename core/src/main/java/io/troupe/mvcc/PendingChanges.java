package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Changes that wait for their batch to be written, and reads that see through to the store. */
final class PendingChanges {
  private final OrderedStore store;
  private final TreeMap<Bytes, Bytes> keys = new TreeMap<>();
  private final TreeMap<Bytes, Bytes> leases = new TreeMap<>();
  private StoreBatch batch = new StoreBatch();

  PendingChanges(OrderedStore store) {
    this.store = store;
  }

  void put(Space space, Bytes key, Bytes value) {
    batch.put(space, key, value);
    note(space, key, value);
  }

  void remove(Space space, Bytes key) {
    batch.delete(space, key);
    note(space, key, MergedCursor.REMOVED);
  }

  /** Only the writer's own reads need the changes, and it reads these two spaces. */
  private void note(Space space, Bytes key, Bytes value) {
    if (space == Space.KEY) {
      keys.put(key, value);
    } else if (space == Space.LEASE) {
      leases.put(key, value);
    }
  }

  /**
   * A forward cursor over one of the two spaces, closed by the caller before the next change.
   *
   * @param space {@link Space#KEY} or {@link Space#LEASE}
   */
  Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive) {
    TreeMap<Bytes, Bytes> all = space == Space.KEY ? keys : leases;
    Cursor stored = store.cursor(space, from, toExclusive, false);
    if (all.isEmpty()) {
      return stored;
    }
    NavigableMap<Bytes, Bytes> part =
        toExclusive == null ? all.tailMap(from, true) : all.subMap(from, true, toExclusive, false);
    return part.isEmpty() ? stored : new MergedCursor(stored, part);
  }

  /** Writes everything and begins anew. */
  void write() {
    store.write(batch);
    batch = new StoreBatch();
    keys.clear();
    leases.clear();
  }
}
