package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
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

  /**
   * The state as if such a program had written its last batch: the counts are outdated, and KEY
   * contains the newest versions too.
   */
  public static void writtenLastWithoutCounts(OrderedStore store) {
    withNewestTwice(store);
    StoreBatch batch = new StoreBatch();
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    if (applied != null) {
      batch.put(Space.META, StoreKeys.META_APPLIED, applied.slice(0, 24));
    }
    store.write(batch);
  }

  /** The state as a program writes it that stores the newest versions in KEY too. */
  public static void withNewestTwice(OrderedStore store) {
    StoreBatch batch = new StoreBatch();
    Bytes schema = store.get(Space.META, StoreKeys.META_SCHEMA);
    if (schema != null) {
      batch.put(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(StoreSchema.of(schema)));
    }
    try (Cursor rows =
        store.cursor(Space.LATEST, StoreKeys.LATEST_REVISION.successor(), null, false)) {
      while (rows.next()) {
        NewestRecord newest = RowCodec.latest(rows.key(), rows.value());
        if (newest.sub() != NewestRecord.IN_HISTORY) {
          batch.put(Space.KEY, newest.row(), newest.value());
          batch.put(Space.LATEST, rows.key(), latest(newest.kv()));
        }
      }
    }
    store.write(batch);
  }

  /** A row of LATEST of such a program. */
  static Bytes latest(KeyValue kv) {
    Bytes numbers = Bytes.EMPTY;
    for (long number :
        new long[] {kv.modRevision(), kv.createRevision(), kv.version(), kv.lease()}) {
      numbers = numbers.concat(RowCodec.number(number));
    }
    return numbers.concat(kv.value());
  }

  /** Sets the schema, as rows of users or versions do. */
  public static void schema(OrderedStore store, long schema) {
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(schema));
    store.write(batch);
  }
}
