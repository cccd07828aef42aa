package io.troupe.persistence.store;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreView;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.rocksdb.ReadOptions;
import org.rocksdb.Snapshot;

/**
 * A view of all spaces at one moment. An idle view does not delay closing the store, which releases
 * it. One thread at a time, also for {@link #close}.
 */
final class FrozenView implements StoreView {
  private final RocksReads reads;
  private final Snapshot snapshot;
  private final ReadOptions options;
  private final Consumer<FrozenView> onClose;
  private boolean released;

  /**
   * Takes ownership of the snapshot.
   *
   * @param onClose called when the view is closed before the store
   */
  FrozenView(RocksReads reads, Snapshot snapshot, Consumer<FrozenView> onClose) {
    this.reads = reads;
    this.snapshot = snapshot;
    this.options = RocksOptions.readOptions(snapshot);
    this.onClose = onClose;
  }

  @Override
  public @Nullable Bytes get(Space space, Bytes key) {
    return reads.get(space, key, options);
  }

  @Override
  public Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive, boolean reverse) {
    return reads.cursor(
        space,
        options,
        end -> UpperBound.once(end, RocksOptions.readOptions(snapshot)),
        from,
        toExclusive,
        reverse);
  }

  @Override
  public void close() {
    if (!reads.gate().tryEnter()) {
      // The store releases it.
      return;
    }
    try {
      onClose.accept(this);
      release();
    } finally {
      reads.gate().leave();
    }
  }

  /** Frees the native objects; the database is still open and no thread uses the view. */
  synchronized void release() {
    if (!released) {
      released = true;
      options.close();
      reads.db().releaseSnapshot(snapshot);
    }
  }
}
