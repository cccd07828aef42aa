package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Two cursors that read history: one over the changes in the order of their revisions, one over the
 * versions of all keys. Each is frozen when it is opened, the changes first. One thread; the owner
 * closes it.
 *
 * @param changes over {@link Space#REV}, before its first row
 * @param rows before the first version
 */
record HistoryCursors(Cursor changes, VersionCursor rows) implements AutoCloseable {
  /**
   * Opens the cursors.
   *
   * @param from first change, inclusive
   * @param toExclusive end of the changes, or null for all
   * @throws StoreException if the store cannot be read; no cursor stays open then
   */
  static HistoryCursors open(StoreView store, Bytes from, @Nullable Bytes toExclusive) {
    return open(
        store.cursor(Space.REV, from, toExclusive, false),
        () -> VersionCursor.open(store, Bytes.EMPTY, null));
  }

  /** The same for a walk over very many rows. */
  static HistoryCursors openLong(StoreView store, Bytes from, @Nullable Bytes toExclusive) {
    return open(
        store.longCursor(Space.REV, from, toExclusive),
        () -> VersionCursor.openLong(store, Bytes.EMPTY, null));
  }

  private static HistoryCursors open(Cursor changes, Supplier<VersionCursor> openRows) {
    @Nullable VersionCursor rows = null;
    try {
      rows = openRows.get();
      return new HistoryCursors(changes, rows);
    } finally {
      if (rows == null) {
        changes.close();
      }
    }
  }

  @Override
  public void close() {
    try (changes) {
      rows.close();
    }
  }
}
