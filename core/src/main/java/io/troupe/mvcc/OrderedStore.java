package io.troupe.mvcc;

import io.troupe.model.Bytes;

/**
 * A durable ordered map, divided into spaces. Two threads may write: one that applies entries and
 * one that removes compacted versions. Any number of threads read concurrently. Implementations:
 * RocksDB (persistence) and {@link InMemoryOrderedStore} (simulation, tests).
 *
 * <p>A failed write or read throws {@link StoreException}: the state is no longer trustworthy and
 * the member stops.
 */
public interface OrderedStore extends StoreView {

  /** The spaces (column families), by purpose. Names are on disk: never rename one. */
  enum Space {
    /** Applied index and term, compacted revision, membership, alarms, versions. */
    META,
    /** Every version of every user key. */
    KEY,
    /** The newest record of every live user key, and the revision to which they belong. */
    LATEST,
    /** Revision to user key, for watch catch-up and compaction. */
    REV,
    /** Leases and the keys attached to them. */
    LEASE
  }

  /**
   * Freezes all spaces at one moment between two batches, for a long read. Cheap; the space of
   * records that are deleted meanwhile is freed after the view is closed.
   *
   * @return owned by the caller; its reads fail after this store is closed
   */
  StoreView freeze();

  /**
   * Writes all of {@code batch} or nothing, visible to reads that start after this call returns.
   * Safe for two concurrent callers. A crash preserves a prefix of the batches in the order in
   * which their calls returned, over all spaces: a batch is never preserved without all earlier
   * ones.
   */
  void write(StoreBatch batch);

  /**
   * Bytes on disk (or in memory, for the in-memory store), for dbSize and the quota. Cheap: may be
   * slightly outdated.
   */
  long sizeOnDisk();

  /** Bytes that live data needs, at most {@link #sizeOnDisk()}. Cheap: an estimate. */
  long sizeInUse();

  @Override
  void close();

  /** A walk over records. Used by one thread and closed by the caller that opened it. */
  interface Cursor extends AutoCloseable {
    /** Moves to the next record; false if there is none. */
    boolean next();

    /**
     * Moves to the first record at or after {@code key} in walking order; false if there is none.
     */
    boolean seek(Bytes key);

    /** Key of the current record; stays valid after the next move. */
    Bytes key();

    /** Value of the current record; stays valid after the next move. */
    Bytes value();

    /** The first bytes of the current value, at most {@code maxBytes}; reads no more than these. */
    default Bytes valueHead(int maxBytes) {
      Bytes whole = value();
      return whole.length() <= maxBytes ? whole : whole.slice(0, maxBytes);
    }

    /**
     * Copies the key of the current record, for a walk that must not make garbage.
     *
     * @return its length; if that is more than {@code target} has, only a part was copied
     */
    default int keyTo(byte[] target) {
      return copy(key(), target);
    }

    /** Copies the value of the current record, as {@link #keyTo}. */
    default int valueTo(byte[] target) {
      return copy(value(), target);
    }

    private static int copy(Bytes from, byte[] target) {
      from.slice(0, Math.min(from.length(), target.length)).copyTo(target, 0);
      return from.length();
    }

    @Override
    void close();
  }
}
