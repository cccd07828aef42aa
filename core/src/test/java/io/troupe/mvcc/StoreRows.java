package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;

/** Reads the rows of a store, to compare them. */
final class StoreRows {
  private StoreRows() {}

  /**
   * Every row of a space but the counts of blocks, whose bounds may differ; of KEY, all versions.
   */
  static List<StoreBatch.Change> replicated(OrderedStore store, Space space) {
    Bytes counts = CountRows.key(Bytes.EMPTY);
    List<StoreBatch.Change> rows = space == Space.KEY ? versions(store) : all(store, space);
    return rows.stream()
        .filter(row -> space != Space.META || !row.key().startsWith(counts))
        .toList();
  }

  /** All versions. Where a partial entry was undone, KEY may have a newest version too. */
  static List<StoreBatch.Change> versions(OrderedStore store) {
    List<StoreBatch.Change> versions = new ArrayList<>();
    try (Cursor cursor = VersionCursor.open(store, Bytes.EMPTY, null)) {
      while (cursor.next()) {
        versions.add(new StoreBatch.Change(Space.KEY, cursor.key(), cursor.value()));
      }
    }
    return versions;
  }

  /** Every row of a space. */
  static List<StoreBatch.Change> all(OrderedStore store, Space space) {
    List<StoreBatch.Change> rows = new ArrayList<>();
    try (Cursor cursor = store.cursor(space, Bytes.EMPTY, null, false)) {
      while (cursor.next()) {
        rows.add(new StoreBatch.Change(space, cursor.key(), cursor.value()));
      }
    }
    return rows;
  }
}
