package io.troupe.persistence.store;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreException;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/** Reads of an open database, of its newest state or of a frozen one. */
final class RocksReads {
  private final RocksDB db;
  private final Function<Space, ColumnFamilyHandle> handle;
  private final OpenGate gate;
  private final BiFunction<String, RocksDBException, StoreException> failed;

  /**
   * Reads a database.
   *
   * @param failed converts the failure of an action, such as "read"
   */
  RocksReads(
      RocksDB db,
      Function<Space, ColumnFamilyHandle> handle,
      OpenGate gate,
      BiFunction<String, RocksDBException, StoreException> failed) {
    this.db = db;
    this.handle = handle;
    this.gate = gate;
    this.failed = failed;
  }

  OpenGate gate() {
    return gate;
  }

  RocksDB db() {
    return db;
  }

  /** The value at {@code key}, or null. */
  @Nullable Bytes get(Space space, Bytes key, ReadOptions read) {
    gate.enter();
    try {
      byte[] value =
          db.get(handle.apply(space), read, key.backingArray(), key.backingOffset(), key.length());
      return value == null ? null : Bytes.wrap(value);
    } catch (RocksDBException e) {
      throw failed.apply("read", e);
    } finally {
      gate.leave();
    }
  }

  /**
   * Opens a cursor.
   *
   * @param unbounded options without an upper end
   * @param bounded creates options with an upper end
   */
  Cursor cursor(
      Space space,
      ReadOptions unbounded,
      Function<Bytes, UpperBound> bounded,
      Bytes from,
      @Nullable Bytes toExclusive,
      boolean reverse) {
    gate.enter();
    @Nullable UpperBound bound = null;
    @Nullable RocksCursor made = null;
    try {
      if (toExclusive != null) {
        // RocksDB misbehaves if the upper end is below the start position.
        bound = bounded.apply(toExclusive.compareTo(from) < 0 ? from : toExclusive);
      }
      RocksIterator iterator =
          db.newIterator(handle.apply(space), bound == null ? unbounded : bound.options());
      made =
          new RocksCursor(
              iterator,
              new RocksCursor.Release(gate, bound),
              e -> failed.apply("read", e),
              from,
              reverse);
      return made;
    } finally {
      if (made == null) {
        if (bound != null) {
          bound.close();
        }
        gate.leave();
      }
    }
  }
}
