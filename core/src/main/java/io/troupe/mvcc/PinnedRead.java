package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Several reads of one committed revision. A compaction may overtake them: then a read finds
 * nothing, {@link #isLost} says so, and all that was read is to be thrown away. For one thread.
 */
public final class PinnedRead implements KvRead {
  private final MvccReader reader;
  private final OrderedStore store;
  private final ViewHolder holder;
  private final ReadView pinned;
  private boolean lost;

  PinnedRead(MvccReader reader, OrderedStore store, ViewHolder holder) {
    this.reader = reader;
    this.store = store;
    this.holder = holder;
    this.pinned = holder.get();
  }

  /** True when a compaction went past a revision that was read here. */
  public boolean isLost() {
    return lost;
  }

  @Override
  public long revision() {
    return pinned.revision();
  }

  @Override
  public long compactedRevision() {
    return pinned.compactedRevision();
  }

  @Override
  public @Nullable KeyValue get(Bytes key) {
    RangeResult found = range(RangeQuery.of(KeyRange.single(key), 0));
    return found.kvs().isEmpty() ? null : found.kvs().get(0);
  }

  @Override
  public void scan(KeyRange range, Predicate<KeyValue> more) {
    if (range.isEmpty()) {
      return;
    }
    Bytes from = StoreKeys.firstOf(range.key());
    try (Cursor rows = store.cursor(Space.KEY, from, StoreKeys.upper(range), false)) {
      lost |= pinned.revision() < holder.get().compactedRevision();
      VersionWalk walk = new VersionWalk(rows, pinned.revision());
      while (!lost && walk.next()) {
        if (!more.test(RowCodec.keyValue(walk.row(), walk.value()))) {
          return;
        }
      }
    }
  }

  @Override
  public RangeResult range(RangeQuery query) {
    long at = query.revision() <= 0 ? pinned.revision() : query.revision();
    RangeResult found = reader.rangeAt(query, at, pinned.revision(), null);
    lost |= found == null;
    return found == null ? RangeRead.nothing(pinned.revision()) : found;
  }
}
