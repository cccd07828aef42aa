package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Changes that are not written yet, and reads over them and the store. */
final class PendingChanges {
  /** Approximate overhead of a change in addition to its bytes. */
  private static final int CHANGE_BYTES = 100;

  private final OrderedStore store;
  private final Map<Space, NavigableMap<Bytes, Bytes>> sorted = new EnumMap<>(Space.class);
  private StoreBatch batch = new StoreBatch();
  private int sortedChanges;
  private long bytes;

  PendingChanges(OrderedStore store) {
    this.store = store;
    for (Space space : Space.values()) {
      sorted.put(space, new TreeMap<>());
    }
  }

  /** Approximate memory of the changes. */
  long bytes() {
    return bytes;
  }

  void put(Space space, Bytes key, Bytes value) {
    bytes += CHANGE_BYTES + key.length() + value.length();
    batch.put(space, key, value);
  }

  void remove(Space space, Bytes key) {
    bytes += CHANGE_BYTES + key.length();
    batch.delete(space, key);
  }

  /** A forward cursor over a space; the caller closes it before the next change. */
  Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive) {
    NavigableMap<Bytes, Bytes> all = sorted(space);
    Cursor stored = store.cursor(space, from, toExclusive, false);
    if (all.isEmpty()) {
      return stored;
    }
    NavigableMap<Bytes, Bytes> part =
        toExclusive == null ? all.tailMap(from, true) : all.subMap(from, true, toExclusive, false);
    return part.isEmpty() ? stored : new MergedCursor(stored, part);
  }

  /** Most batches are written before they are read: sorts at the first read. */
  private NavigableMap<Bytes, Bytes> sorted(Space space) {
    List<StoreBatch.Change> changes = batch.changes();
    for (; sortedChanges < changes.size(); sortedChanges++) {
      StoreBatch.Change change = changes.get(sortedChanges);
      Bytes value = change.value();
      of(change.space()).put(change.key(), value == null ? MergedCursor.REMOVED : value);
    }
    return of(space);
  }

  private NavigableMap<Bytes, Bytes> of(Space space) {
    NavigableMap<Bytes, Bytes> all = sorted.get(space);
    if (all == null) {
      throw new StoreException("no space " + space);
    }
    return all;
  }

  /** Writes and clears all changes. */
  void write() {
    store.write(batch);
    batch = new StoreBatch();
    sorted.values().forEach(Map::clear);
    sortedChanges = 0;
    bytes = 0;
  }
}
