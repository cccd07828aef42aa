package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Removes the versions that no legal read can see any more (C2), in small steps beside the writer.
 * Safe for any thread; steps exclude each other. It may be stopped between two steps for good: the
 * next start begins again with the compaction that was not finished.
 *
 * <p>Its cost follows the changes between two compactions, not the number of keys: what is
 * superfluous belongs to a key that changed in that window. Each such key is looked up once,
 * however often it changed.
 */
public final class Compactor {
  /**
   * How far removal is.
   *
   * @param done whether nothing is left to remove now
   * @param finishedRevision all that the compaction of this revision makes superfluous is gone; -1
   *     before the first
   * @param removed versions removed by this step
   */
  public record Progress(boolean done, long finishedRevision, int removed) {}

  private final OrderedStore store;
  private final ViewHolder view;
  private long finished;
  private long target;
  private @Nullable Bytes position;

  Compactor(OrderedStore store, ViewHolder view, long finished) {
    this.store = store;
    this.view = view;
    this.finished = finished;
    this.target = finished;
  }

  /**
   * Makes one step.
   *
   * @param max most changes to look at, and most versions to remove, 1 or more
   */
  public synchronized Progress removeBatch(int max) {
    Bytes from = position;
    if (from == null) {
      // Published before: whoever opened a cursor after that refuses what is removed here.
      target = view.get().compactedRevision();
      if (target <= finished) {
        return new Progress(true, finished, 0);
      }
      from = StoreKeys.revision(Math.max(finished, 0), 0);
    }
    StoreBatch batch = new StoreBatch();
    position = removeFrom(from, Math.max(max, 1), batch);
    int removed = batch.changes().size() / 2;
    if (position == null) {
      finished = target;
      batch.put(Space.META, StoreKeys.META_COMPACTION_FINISHED, RowCodec.longs(finished));
    }
    if (!batch.isEmpty()) {
      store.write(batch);
    }
    boolean done = position == null && finished >= view.get().compactedRevision();
    return new Progress(done, finished, removed);
  }

  /** Looks at changes from {@code from} on; returns where to go on, or null at the end. */
  private @Nullable Bytes removeFrom(Bytes from, int max, StoreBatch batch) {
    Bytes end = StoreKeys.revision(target + 1, 0);
    Set<Bytes> done = new HashSet<>();
    try (Cursor changes = store.cursor(Space.REV, from, end, false);
        Cursor rows = store.cursor(Space.KEY, Bytes.EMPTY, null, false)) {
      for (int i = 0; changes.next(); i++) {
        if (i == max) {
          return changes.key();
        }
        Bytes key = RowCodec.changedKey(changes.value());
        if (done.add(key) && !removeSuperfluous(key, rows, max, batch)) {
          return changes.key();
        }
      }
    }
    return null;
  }

  /**
   * Removes what is superfluous of one key.
   *
   * @return false if there was more than the step may remove. The version that is kept comes at or
   *     behind the change that led here, so the next step finds the key again
   */
  private boolean removeSuperfluous(Bytes key, Cursor rows, int max, StoreBatch batch) {
    if (!rows.seek(StoreKeys.newestAt(key, target))) {
      throw new StoreException("a changed key has no version at revision " + target);
    }
    Bytes kept = rows.key();
    if (!StoreKeys.sameKey(kept, StoreKeys.row(key, 0, 0, false))) {
      throw new StoreException("a changed key has no version at revision " + target);
    }
    while (rows.next() && StoreKeys.sameKey(rows.key(), kept)) {
      // What changed at the compacted revision itself stays whole: a watch may still begin there.
      if (StoreKeys.main(rows.key()) < target) {
        if (batch.changes().size() >= 2 * max) {
          return false;
        }
        remove(rows.key(), batch);
      }
    }
    // A tombstone at the compacted revision stays for the same reason (C2).
    if (StoreKeys.isTombstone(kept) && StoreKeys.main(kept) < target) {
      remove(kept, batch);
    }
    return true;
  }

  private static void remove(Bytes row, StoreBatch batch) {
    batch.delete(Space.KEY, row);
    batch.delete(Space.REV, StoreKeys.revision(StoreKeys.main(row), StoreKeys.sub(row)));
  }
}
