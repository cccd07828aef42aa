package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * Removes the versions that no legal read can see any more (C2), in small steps beside the writer.
 * Safe for any thread; steps exclude each other. It may be stopped between two steps for good: the
 * next start begins again with the compaction that was not finished.
 *
 * <p>Its cost follows the changes between two compactions, not the number of keys: each change in
 * that window makes its key's version before it superfluous, and a tombstone below the compacted
 * revision is superfluous itself.
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
   * @param maxKeys most changes to look at, 1 or more; at most twice as many versions are removed
   */
  public synchronized Progress removeBatch(int maxKeys) {
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
    position = removeFrom(from, Math.max(maxKeys, 1), batch);
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
  private @Nullable Bytes removeFrom(Bytes from, int maxChanges, StoreBatch batch) {
    Bytes end = StoreKeys.revision(target + 1, 0);
    try (Cursor changes = store.cursor(Space.REV, from, end, false);
        Cursor rows = store.cursor(Space.KEY, Bytes.EMPTY, null, false)) {
      for (int i = 0; changes.next(); i++) {
        if (i == maxChanges) {
          return changes.key();
        }
        removeSuperfluous(changes.key(), changes.value(), rows, batch);
      }
    }
    return null;
  }

  private void removeSuperfluous(Bytes position, Bytes change, Cursor rows, StoreBatch batch) {
    long main = StoreKeys.revisionMain(position);
    boolean tombstone = RowCodec.isTombstoneChange(change);
    Bytes row =
        StoreKeys.row(
            RowCodec.changedKey(change), main, StoreKeys.revisionSub(position), tombstone);
    if (!rows.seek(row) || !rows.key().equals(row)) {
      throw new StoreException("a change of revision " + main + " has no row");
    }
    // What changed at the compacted revision itself stays whole: a watch may still begin there.
    if (rows.next() && StoreKeys.sameKey(rows.key(), row) && StoreKeys.main(rows.key()) < target) {
      remove(rows.key(), batch);
    }
    // A tombstone at the compacted revision stays for the same reason (C2).
    if (tombstone && main < target) {
      remove(row, batch);
    }
  }

  private static void remove(Bytes row, StoreBatch batch) {
    batch.delete(Space.KEY, row);
    batch.delete(Space.REV, StoreKeys.revision(StoreKeys.main(row), StoreKeys.sub(row)));
  }
}
