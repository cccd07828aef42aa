package io.troupe.mvcc;

import io.troupe.model.Bytes;
import org.jspecify.annotations.Nullable;

/** An {@link OrderedStore} that fails at a chosen write, between writes that succeed. */
final class CrashingStore implements OrderedStore {
  /** The process crashes here. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final OrderedStore store;
  private long writesLeft = Long.MAX_VALUE;
  private long writes;

  CrashingStore(OrderedStore store) {
    this.store = store;
  }

  /** Lets {@code more} writes succeed and fails at the next one. */
  void crashAfter(long more) {
    writesLeft = more;
  }

  /** Number of batches that were written. */
  long writes() {
    return writes;
  }

  @Override
  public StoreView freeze() {
    return store.freeze();
  }

  @Override
  public @Nullable Bytes get(Space space, Bytes key) {
    return store.get(space, key);
  }

  @Override
  public Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    return store.cursor(space, from, toExclusive, reverse);
  }

  @Override
  public void write(StoreBatch batch) {
    if (writesLeft-- <= 0) {
      throw new Crash();
    }
    writes++;
    store.write(batch);
  }

  @Override
  public long sizeOnDisk() {
    return store.sizeOnDisk();
  }

  @Override
  public long sizeInUse() {
    return store.sizeInUse();
  }

  @Override
  public void close() {
    store.close();
  }
}
