package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Several reads of one committed revision. If a compaction removes that revision in between, a read
 * finds nothing and {@link #isLost} returns true; all results must then be discarded. For one
 * thread. A range that exceeds the memory throws {@link MemoryBudget.Exceeded}.
 */
public final class SnapshotRead implements KvRead {
  private final MvccReader reader;
  private final ReadViewPublisher holder;
  private final Published seen;
  private final ReadView pinned;
  private final MemoryBudget.Share share;
  private boolean lost;

  SnapshotRead(MvccReader reader, ReadViewPublisher holder, MemoryBudget.Share share) {
    this.reader = reader;
    this.holder = holder;
    this.seen = holder.published();
    this.pinned = seen.view();
    this.share = share;
  }

  /** True if a compaction removed a revision that was read here. */
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
  public void scan(KeyRange range, boolean whole, Predicate<KeyValue> more) {
    if (range.isEmpty()) {
      return;
    }
    try (RecordWalk walk = reader.walk(range, pinned.revision())) {
      lost |= pinned.revision() < holder.get().compactedRevision();
      WalkSteps steps = new WalkSteps(share);
      while (!lost && walk.next()) {
        steps.step();
        if (!more.test(whole ? walk.record() : walk.keyOnly())) {
          return;
        }
      }
    }
  }

  /** Executes a read whose revision is already checked: 0 or less is the pinned state. */
  public RangeResult range(RangeQuery query) {
    long at = query.revision() <= 0 ? pinned.revision() : query.revision();
    RangeResult found = reader.rangeAt(query, at, seen, null, share);
    lost |= found == null;
    return found == null ? RangeRead.nothing(pinned.revision()) : found;
  }
}
