package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;

/** Turns states into those that programs without counts of live keys wrote. */
public final class OldStates {
  private OldStates() {}

  /** The state as if such a program had written all of it. */
  public static void withoutCounts(OrderedStore store) {
    writtenLastWithoutCounts(store);
    StoreBatch batch = new StoreBatch();
    try (Cursor rows = CountRows.cursor(store)) {
      while (rows.next()) {
        batch.delete(Space.META, rows.key());
      }
    }
    try (Cursor rows = store.cursor(Space.REV, Bytes.EMPTY, null, false)) {
      while (rows.next()) {
        if (RowCodec.isCreation(rows.value())) {
          batch.put(Space.REV, rows.key(), RowCodec.put(2, RowCodec.changedKey(rows.value())));
        }
      }
    }
    store.write(batch);
  }

  /** The state as if such a program had written its last batch: the counts are outdated. */
  public static void writtenLastWithoutCounts(OrderedStore store) {
    StoreBatch batch = new StoreBatch();
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    if (applied != null) {
      batch.put(Space.META, StoreKeys.META_APPLIED, applied.slice(0, 24));
    }
    store.write(batch);
  }

  /** Sets the schema, as rows of users or versions do. */
  public static void schema(OrderedStore store, long schema) {
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(schema));
    store.write(batch);
  }
}
