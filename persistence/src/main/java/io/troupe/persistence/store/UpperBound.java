package io.troupe.persistence.store;

import io.troupe.model.Bytes;
import java.nio.ByteBuffer;
import java.util.concurrent.ArrayBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.rocksdb.DirectSlice;
import org.rocksdb.ReadOptions;

/**
 * Read options with an exclusive upper end that can be changed, so that a short walk does not need
 * to create and free two native objects. Used by one cursor at a time, and not changed while its
 * iterator exists: the iterator reads the same memory.
 */
final class UpperBound implements AutoCloseable {
  private static final int SHARED_CAPACITY = 1024;

  private final @Nullable Pool pool;
  private final ByteBuffer buffer;
  private final DirectSlice slice;
  private final ReadOptions options;

  private UpperBound(int capacity, ReadOptions options, @Nullable Pool pool) {
    this.pool = pool;
    this.buffer = ByteBuffer.allocateDirect(capacity);
    this.slice = new DirectSlice(buffer);
    this.options = options.setIterateUpperBound(slice);
  }

  /**
   * A bound that is used once.
   *
   * @param options owned by the bound
   */
  static UpperBound once(Bytes end, ReadOptions options) {
    UpperBound bound = new UpperBound(end.length(), options, null);
    bound.set(end);
    return bound;
  }

  /** Called when the iterator is closed. */
  void release() {
    if (pool == null) {
      close();
    } else {
      pool.giveBack(this);
    }
  }

  ReadOptions options() {
    return options;
  }

  private void set(Bytes end) {
    buffer.clear();
    buffer.put(end.backingArray(), end.backingOffset(), end.length());
    slice.setLength(end.length());
  }

  @Override
  public void close() {
    options.close();
    slice.close();
  }

  /** Unused bounds of one store. Safe for many threads. */
  static final class Pool implements AutoCloseable {
    private final ArrayBlockingQueue<UpperBound> idle = new ArrayBlockingQueue<>(32);

    /** Returns a bound at {@code end}; release it when the iterator is closed. */
    UpperBound take(Bytes end) {
      UpperBound bound = end.length() > SHARED_CAPACITY ? null : idle.poll();
      if (bound == null) {
        int capacity = Math.max(SHARED_CAPACITY, end.length());
        bound = new UpperBound(capacity, RocksOptions.readOptions(), this);
      }
      bound.set(end);
      return bound;
    }

    private void giveBack(UpperBound bound) {
      if (bound.buffer.capacity() > SHARED_CAPACITY || !idle.offer(bound)) {
        bound.close();
      }
    }

    @Override
    public void close() {
      for (UpperBound bound = idle.poll(); bound != null; bound = idle.poll()) {
        bound.close();
      }
    }
  }
}
