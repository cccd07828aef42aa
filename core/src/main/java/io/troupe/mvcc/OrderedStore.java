package io.troupe.mvcc;

import io.troupe.model.Bytes;
import org.jspecify.annotations.Nullable;

/**
 * A durable ordered map, split into spaces. Two threads may write, one that applies entries and one
 * that removes what is compacted; any number of threads read beside them. Implementations: RocksDB
 * (persistence) and {@link InMemoryOrderedStore} (simulation, tests).
 *
 * <p>A failed write or read throws {@link StoreException}: the state can no longer be trusted and
 * the member stops.
 */
public interface OrderedStore extends AutoCloseable {

  /** The spaces (column families), by purpose. Names are on disk: never rename one. */
  enum Space {
    /** Applied index and term, compacted revision, membership, alarms, versions. */
    META,
    /** Every version of every user key. */
    KEY,
    /** The newest record of every live user key, and the revision they are of. */
    LATEST,
    /** Revision to user key, for watch catch-up and compaction. */
    REV,
    /** Leases and the keys attached to them. */
    LEASE
  }

  /** The value at {@code key}, or null. */
  @Nullable Bytes get(Space space, Bytes key);

  /**
   * A cursor over a view of the space that is frozen when this call returns. It stands before the
   * first record.
   *
   * @param from first key, inclusive
   * @param toExclusive first key behind, or null for no upper end
   * @param reverse walk from the greatest key down
   */
  Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse);

  /**
   * Writes all of {@code batch} or nothing, visible to reads that begin after this call returns.
   * Safe for two callers at once. What survives a crash is a prefix of the batches in the order
   * their calls returned, over all spaces alike: a batch is never kept without those before it.
   */
  void write(StoreBatch batch);

  /**
   * Bytes on disk (or held, for the in-memory store), for dbSize and the quota. Cheap: may be a
   * little old.
   */
  long sizeOnDisk();

  /** Bytes that live data needs, at most {@link #sizeOnDisk()}. Cheap: an estimate. */
  long sizeInUse();

  @Override
  void close();

  /** A walk over records. Used by one thread, closed by whoever opened it. */
  interface Cursor extends AutoCloseable {
    /** Steps to the next record; false when there is none. */
    boolean next();

    /**
     * Steps to the first record at or behind {@code key} in walking order; false when there is
     * none.
     */
    boolean seek(Bytes key);

    /** Key of the current record; valid for good. */
    Bytes key();

    /** Value of the current record; valid for good. */
    Bytes value();

    /** The first bytes of that value, at most {@code maxBytes}; reads no more than these. */
    default Bytes valueHead(int maxBytes) {
      Bytes whole = value();
      return whole.length() <= maxBytes ? whole : whole.slice(0, maxBytes);
    }

    @Override
    void close();
  }
}
