package io.troupe.mvcc;

import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * Removes the versions that no legal read can see any more (C2), in small batches beside the
 * writer. Safe for any thread; calls exclude each other. It may be stopped between two batches for
 * good: the next start restarts with the compaction that was not finished.
 *
 * <p>Its cost follows the changes between two compactions and what is removed, not the number of
 * keys: what is superfluous belongs to a key that changed in that window. A {@link CompactionWalk}
 * finds it.
 */
public final class Compactor {
  /**
   * Changes that one walk checks. A walk does not meet the marks of what it removed, so it has to
   * be long; but it also keeps the store from freeing what was replaced meanwhile.
   */
  private static final int CHANGES_PER_WALK = 100_000;

  /** Changes that are checked for each version that a batch may remove. */
  private static final int LOOKED_AT_PER_REMOVED = 4;

  /**
   * How far removal is.
   *
   * @param done whether nothing is left to remove now
   * @param finishedRevision all that the compaction of this revision makes superfluous is gone; -1
   *     before the first
   * @param removed versions removed by this call
   */
  public record Progress(boolean done, long finishedRevision, long removed) {}

  /** Decides after each batch whether removal continues, and may take its time with that. */
  @FunctionalInterface
  public interface Pace {
    /**
     * A batch is written.
     *
     * @param removed versions that it removed
     * @return whether to continue with the next one
     */
    boolean goesOnAfter(long removed);
  }

  private final OrderedStore store;
  private final ReadViewPublisher view;
  private long finished;
  private long target;
  private CompactionWalk.@Nullable Position position;
  private CompactionWalk.KeptRevisions kept = new CompactionWalk.KeptRevisions();

  Compactor(OrderedStore store, ReadViewPublisher view, long finished) {
    this.store = store;
    this.view = view;
    this.finished = finished;
    this.target = finished;
  }

  /**
   * Removes one batch.
   *
   * @param max most versions in it, 1 or more; one more if the last key is gone with it
   */
  public Progress removeBatch(int max) {
    return remove(max, removed -> false);
  }

  /**
   * Removes batch after batch until nothing is left, {@code pace} stops, or a walk is long enough.
   *
   * @param max most versions in a batch, 1 or more; one more if the last key is gone with it
   */
  public synchronized Progress remove(int max, Pace pace) {
    CompactionWalk.Position from = position;
    if (from == null) {
      // Published before: whoever opened a cursor after that refuses what is removed here.
      target = view.get().compactedRevision();
      if (target <= finished) {
        return new Progress(true, finished, 0);
      }
      kept = new CompactionWalk.KeptRevisions();
      from = CompactionWalk.Position.at(StoreKeys.revision(Math.max(finished, 0), 0));
    }
    long removed = 0;
    try (CompactionWalk walk = new CompactionWalk(store, from, target, kept)) {
      boolean more = true;
      while (more) {
        StoreBatch batch = new StoreBatch();
        boolean end = walk.fill(batch, max, LOOKED_AT_PER_REMOVED * max);
        long inBatch = batch.changes().size() / 2;
        removed += inBatch;
        if (end) {
          finished = target;
          batch.put(Space.META, StoreKeys.META_COMPACTION_FINISHED, RowCodec.longs(finished));
        }
        store.write(batch);
        position = end ? null : walk.position();
        boolean goesOn = pace.goesOnAfter(inBatch);
        more = !end && goesOn && walk.looked() < CHANGES_PER_WALK;
      }
    }
    boolean done = position == null && finished >= view.get().compactedRevision();
    return new Progress(done, finished, removed);
  }
}
