package io.troupe.actors.member;

import io.troupe.metrics.DiskMetrics;
import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreView;
import org.jspecify.annotations.Nullable;

/** Measures the writes of a store. */
final class InstrumentedStore implements OrderedStore {
  private final OrderedStore store;
  private final DiskMetrics metrics;

  InstrumentedStore(OrderedStore store, DiskMetrics metrics) {
    this.store = store;
    this.metrics = metrics;
  }

  @Override
  public void write(StoreBatch batch) {
    long startNanos = System.nanoTime();
    store.write(batch);
    metrics.storeWritten(System.nanoTime() - startNanos);
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
  public Cursor longCursor(Space space, Bytes from, @Nullable Bytes toExclusive) {
    return store.longCursor(space, from, toExclusive);
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
