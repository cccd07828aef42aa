package io.troupe.mvcc;

import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * Removes the versions that no legal read can see any more (C2), in small batches, concurrently
 * with the writer. Safe for any thread; calls exclude each other. It may be stopped between two
 * batches: the next start of the member repeats the compaction that was not finished.
 *
 * <p>Its cost depends on the number of changes between two compactions and of removed versions, not
 * on the number of keys: an obsolete version belongs to a key that changed in that window. A {@link
 * CompactionScan} over all versions finds them fastest if the window changed a large part of the
 * keys. It gives up after a number of steps that depends on the window, and then a {@link
 * CompactionWalk} over the changes does the rest.
 */
public final class Compactor {
  /** Rows that are checked for each version that a batch may remove. */
  private static final int CHECKED_PER_REMOVED = 4;

  /**
   * Progress of the removal.
   *
   * @param done true if nothing is left to remove
   * @param finishedRevision everything that the compaction of this revision makes obsolete is
   *     removed; -1 before the first
   * @param removed versions removed by this call
   */
  public record Progress(boolean done, long finishedRevision, long removed) {}

  /** Decides after each batch whether the removal continues, and may block to slow it down. */
  @FunctionalInterface
  public interface Pace {
    /**
     * Called after a batch is written.
     *
     * @param removed number of versions that it removed
     * @return true to continue with the next batch
     */
    boolean goesOnAfter(long removed);
  }

  private final OrderedStore store;
  private final ReadViewPublisher view;
  private long finished;
  private long target;

  /** The search of the compaction in progress, or null. */
  private ObsoleteVersions.@Nullable Opening search;

  Compactor(OrderedStore store, ReadViewPublisher view, long finished) {
    this.store = store;
    this.view = view;
    this.finished = finished;
    this.target = finished;
  }

  /**
   * Removes one batch.
   *
   * @param max maximum number of versions in it, 1 or more; exceeded by one if the last key is
   *     removed completely
   */
  public Progress removeBatch(int max) {
    return remove(max, removed -> false);
  }

  /**
   * Removes batches until nothing is left, {@code pace} stops the removal, or a part of the search
   * is over.
   *
   * @param max maximum number of versions in a batch, 1 or more; exceeded by one if the last key is
   *     removed completely
   */
  public synchronized Progress remove(int max, Pace pace) {
    ObsoleteVersions.Opening current = search;
    if (current == null) {
      // Published before the removal: a reader that opened its cursors later refuses the revisions
      // that are removed here.
      target = view.get().compactedRevision();
      if (target <= finished) {
        return new Progress(true, finished, 0);
      }
      current = CompactionScan.of(new CompactionScan.Window(Math.max(finished, 0), target));
    }
    long removed = 0;
    try (ObsoleteVersions versions = current.open(store)) {
      boolean more = true;
      while (more) {
        StoreBatch batch = new StoreBatch();
        boolean end =
            versions.fill(new VersionRemoval(batch, target, max), CHECKED_PER_REMOVED * max);
        long inBatch = batch.changes().size() / 2;
        removed += inBatch;
        if (end) {
          finished = target;
          batch.put(Space.META, StoreKeys.META_COMPACTION_FINISHED, RowCodec.longs(finished));
        }
        store.write(batch);
        search = end ? null : versions.rest();
        boolean continues = pace.goesOnAfter(inBatch);
        more = !end && continues && !versions.isOver();
      }
    }
    boolean done = search == null && finished >= view.get().compactedRevision();
    return new Progress(done, finished, removed);
  }
}
