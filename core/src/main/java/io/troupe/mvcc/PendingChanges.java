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
  private final Map<Space, Sorted> sorted = new EnumMap<>(Space.class);
  private StoreBatch batch = new StoreBatch();
  private long bytes;

  /** The changes of one space in the order of their keys, as far as they were read. */
  private static final class Sorted {
    private final NavigableMap<Bytes, Bytes> changes = new TreeMap<>();

    /** Number of changes of the batch, of all spaces, that were searched for those of this one. */
    private int searched;
  }

  PendingChanges(OrderedStore store) {
    this.store = store;
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

  /**
   * Most batches are written before they are read, and most reads are of one space: sorts the
   * changes of a space when it is read.
   */
  private NavigableMap<Bytes, Bytes> sorted(Space space) {
    Sorted of = sorted.computeIfAbsent(space, unread -> new Sorted());
    List<StoreBatch.Change> changes = batch.changes();
    for (; of.searched < changes.size(); of.searched++) {
      StoreBatch.Change change = changes.get(of.searched);
      if (change.space() == space) {
        Bytes value = change.value();
        of.changes.put(change.key(), value == null ? MergedCursor.REMOVED : value);
      }
    }
    return of.changes;
  }

  /** Writes and clears all changes. */
  void write() {
    store.write(batch);
    batch = new StoreBatch();
    sorted.clear();
    bytes = 0;
  }
}
