package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;

/** Rows of META with the number of live keys of each block (docs/formats/store-keys.md). */
final class CountRows {
  private static final Bytes COUNT = Bytes.utf8("count/");

  /** Length of {@link StoreKeys#META_APPLIED} in a state whose counts are complete. */
  private static final int APPLIED_BYTES = 32;

  private static final int CREATIONS_AT = 24;

  private CountRows() {}

  /** Key of the row of the block that starts at {@code start}. */
  static Bytes key(Bytes start) {
    return COUNT.concat(start);
  }

  static Bytes start(Bytes key) {
    return key.slice(COUNT.length());
  }

  static Bytes value(int count) {
    return RowCodec.number(count);
  }

  /**
   * The number of live keys.
   *
   * @throws StoreException if the row is damaged
   */
  static int count(Bytes value) {
    long count = RowCodec.number(value);
    if (count < 0 || count > Integer.MAX_VALUE) {
      throw new StoreException("damaged count of live keys");
    }
    return (int) count;
  }

  /** A cursor over all counts, in the order of the blocks. */
  static Cursor cursor(StoreView store) {
    return MetaRows.prefixed(store, COUNT);
  }

  /** The row of the applied index, in a state whose counts belong to that index. */
  static Bytes applied(long index, long term, long digest, long creationsSince) {
    return RowCodec.longs(index, term, digest, creationsSince);
  }

  /** True if the counts belong to the state that has this row. */
  static boolean areComplete(Bytes applied) {
    return applied.length() >= APPLIED_BYTES;
  }

  /** The row of the applied index, in the same state without counts. */
  static Bytes withoutCounts(Bytes applied) {
    return applied.slice(0, CREATIONS_AT);
  }

  /** The first revision whose changes show which puts created a key. */
  static long creationsSince(Bytes applied) {
    return StoreKeys.getLong(applied, CREATIONS_AT);
  }
}
