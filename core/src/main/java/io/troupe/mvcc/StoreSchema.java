package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.OptionalLong;

/** The number in META that says which rows a state has (docs/formats/store-keys.md). */
public final class StoreSchema {
  /** Added to a schema in which LATEST alone has the newest versions. */
  private static final int NEWEST_ONCE = 8;

  private StoreSchema() {}

  /** The number of a state that a newer program wrote; empty if this program knows the state. */
  public static OptionalLong newer(StoreView store) {
    Bytes row = store.get(Space.META, StoreKeys.META_SCHEMA);
    return row == null || isKnown(row) || StoreKeys.getLong(row, 0) < StoreKeys.SCHEMA
        ? OptionalLong.empty()
        : OptionalLong.of(StoreKeys.getLong(row, 0));
  }

  /** The row of a schema, as this program writes it. */
  static Bytes row(long schema) {
    return RowCodec.longs(schema + NEWEST_ONCE);
  }

  /** The schema in a row of META. */
  static long of(Bytes row) {
    return StoreKeys.getLong(row, 0) - (hasNewestTwice(row) ? 0 : NEWEST_ONCE);
  }

  /** True if KEY has the newest versions too, because an older program wrote the state. */
  static boolean hasNewestTwice(Bytes row) {
    return StoreKeys.getLong(row, 0) <= StoreKeys.SCHEMA_WITH_VERSIONS;
  }

  static boolean isKnown(Bytes row) {
    long schema = of(row);
    return schema >= StoreKeys.SCHEMA && schema <= StoreKeys.SCHEMA_WITH_VERSIONS;
  }

  /**
   * Prepares a state for this program.
   *
   * <p>From now on KEY lacks the newest versions of keys that change. Programs that do not know
   * that must not open the state any more. The rows stay as they are until their keys change.
   *
   * @param row the row of the schema
   * @throws StoreException if it is unknown
   */
  static void open(OrderedStore store, Bytes row) {
    long stored = StoreKeys.getLong(row, 0);
    if (!isKnown(row)) {
      throw new StoreException("unknown schema " + stored + " of the state");
    }
    boolean partial = PartialEntry.find(store) != null;
    if (partial != (of(row) == StoreKeys.SCHEMA_PARTIAL)) {
      throw new StoreException("mark of a partial entry does not match schema " + stored);
    }
    if (hasNewestTwice(row)) {
      StoreBatch batch = new StoreBatch();
      batch.put(Space.META, StoreKeys.META_SCHEMA, row(of(row)));
      store.write(batch);
    }
  }
}
