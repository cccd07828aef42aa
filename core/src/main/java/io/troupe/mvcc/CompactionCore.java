package io.troupe.mvcc;

import java.util.ArrayList;
import java.util.List;

/**
 * The rules of the compaction actor: one pass of the removal at a time, and one hash at a time
 * (MT6). The removal never waits for a hash, which reads the content that was frozen when the
 * compaction was applied. If compactions are applied faster than hashes are computed, some hashes
 * are skipped, but never the newest. One thread.
 *
 * @param <A> identifies a caller that waits for the removal
 */
public final class CompactionCore<A> {
  /**
   * The effects that the shell must execute. An implementation never calls the core from inside one
   * of these methods: it queues.
   *
   * @param <A> identifies a caller that waits for the removal
   */
  public interface Effects<A> {
    /**
     * Starts a pass of the removal, completed by {@link CompactionCore#passed}.
     *
     * @param first true if it begins a removal, false if it continues one
     */
    void startPass(boolean first);

    /**
     * Starts the hash of the newest compaction that has none, if any, completed by {@link
     * CompactionCore#hashed}.
     */
    void startHash();

    /** The versions that the caller waits for are removed. */
    void removed(A caller);

    /** A removal ended that removed something, up to the compaction of this revision. */
    void finished(long revision);

    /**
     * A removal ended that must be logged and counted.
     *
     * @param removed number of versions; 0 for a compaction that left nothing to remove
     */
    void report(long revision, long removed);
  }

  private record Waiting<A>(long revision, A caller) {}

  private final Effects<A> effects;
  private final List<Waiting<A>> waiting = new ArrayList<>();
  private boolean removing;

  /** A removal was requested during the pass in progress, which may have ended before. */
  private boolean removeAgain;

  private boolean moved;
  private boolean hashing;
  private boolean hashAgain;
  private long removed;

  /**
   * The highest compaction that was reported. A caller may wait for a compaction before {@link
   * #moved}, which then finds nothing to remove.
   */
  private long reportedRevision = -1;

  /** Nothing is removed before {@link #start}. */
  public CompactionCore(Effects<A> effects) {
    this.effects = effects;
  }

  /** Called once, before any other input: removes what an earlier run left. */
  public void start() {
    begin();
  }

  /** The store is compacted at a higher revision. */
  public void moved() {
    moved = true;
    hash();
    begin();
  }

  /** The caller waits until all compacted versions below the revision are removed. */
  public void await(long revision, A caller) {
    waiting.add(new Waiting<>(revision, caller));
    begin();
  }

  private void begin() {
    removeAgain = removing;
    if (!removing) {
      removing = true;
      removed = 0;
      effects.startPass(true);
    }
  }

  /** A pass of the removal ended. */
  public void passed(Compactor.Progress progress) {
    removed += progress.removed();
    waiting.removeIf(
        one -> {
          boolean done = one.revision() <= progress.finishedRevision();
          if (done) {
            effects.removed(one.caller());
          }
          return done;
        });
    if (!progress.done() || removeAgain) {
      removeAgain = false;
      effects.startPass(false);
      return;
    }
    removing = false;
    if (removed > 0) {
      effects.finished(progress.finishedRevision());
    }
    if (removed > 0 || (moved && progress.finishedRevision() > reportedRevision)) {
      reportedRevision = progress.finishedRevision();
      effects.report(progress.finishedRevision(), removed);
    }
    moved = false;
  }

  private void hash() {
    // The hash in progress may have been selected before the newest compaction was applied.
    hashAgain = hashing;
    if (!hashing) {
      hashing = true;
      effects.startHash();
    }
  }

  /** The hash ended, or there was none to compute. */
  public void hashed() {
    hashing = false;
    if (hashAgain) {
      hash();
    }
  }
}
