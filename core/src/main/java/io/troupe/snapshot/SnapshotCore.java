package io.troupe.snapshot;

import io.troupe.model.NodeId;
import io.troupe.raft.ReplicationStatus;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules of the snapshot actor: when a snapshot is taken, which followers are sent one, and how
 * much of the log may be removed. Takes one snapshot at a time, and not more often than the
 * settings allow. One that becomes due meanwhile waits. One thread.
 *
 * <p>Snapshots keep disk space allocated: log segments that follow an old snapshot, and deleted
 * table files that a snapshot shares. So a snapshot is also taken on demand ({@link #reclaim}), and
 * while the disk is nearly full all but the newest are deleted.
 *
 * @param <S> a snapshot on the disk
 */
public final class SnapshotCore<S> {
  private final Settings settings;
  private final SnapshotEffects<S> effects;
  private final LogRetention retention;
  private final WaitingFollowers waitingFollowers = new WaitingFollowers();

  /** Index of the newest snapshot of this member's state, also of an earlier run; 0: none. */
  private long newest;

  /** This process saved the newest snapshot. */
  private boolean newestIsOwn;

  /** Snapshots on the disk as of the last read, ascending. */
  private List<Long> indexes = List.of();

  /** Applied index of the newest request that waits; -1 if none waits. */
  private long due = -1;

  private boolean reclaim;

  /** Files were rewritten since the newest snapshot, which still shares the old ones. */
  private boolean rewritten;

  /** {@link #rewritten} when the snapshot in progress began. */
  private boolean rewrittenBefore;

  private boolean proposing;

  /** A snapshot is in progress, or the minimum time after it. */
  private boolean busy;

  /** Last index that was released from the log. */
  private long released;

  /** Applied index when received snapshots were discarded last; -1 at first. */
  private long discarded = -1;

  private boolean olderExist = true;
  private boolean deletingOlder;

  /**
   * Limits.
   *
   * @param entries a snapshot is due after so many entries since the last one, 1 or more
   * @param logBytes a snapshot is due when the log after the last one has so many bytes
   * @param segments a snapshot is due when the log after the last one has so many segments
   * @param pauses true if a minimum time passes between two snapshots
   * @param retention limits of the log that is kept for followers
   */
  public record Settings(
      long entries, long logBytes, int segments, boolean pauses, LogRetention.Limits retention) {}

  public SnapshotCore(Settings settings, SnapshotEffects<S> effects) {
    this.settings = settings;
    this.effects = effects;
    this.retention = new LogRetention(settings.retention());
  }

  /** Reads the snapshots on the disk. Called once, before anything else. */
  public void start() {
    readSnapshots();
  }

  /** The state has applied everything up to {@code index}, and a snapshot is due. */
  public void due(long index) {
    due = index;
    work();
  }

  /** Files of the state were rewritten: the next snapshot frees the space of the old ones. */
  public void reclaim() {
    rewritten = true;
    reclaim = true;
    work();
  }

  /** Checks the free space and the log; called repeatedly. */
  public void check() {
    boolean low = effects.isDiskLow();
    if (low) {
      deleteOlder();
      rewritten |= newestIsOwn && effects.holdsRewrittenFiles(newest);
    }
    discardReceived(low);
    if (retention.hasReceivers()) {
      effects.queryReplication();
    }
    readIndexes();
    releaseLog();
    reclaim |= low || rewritten || isOverdue();
    startTransfers();
    work();
  }

  /**
   * Returns true if the log after the newest snapshot is long. Entries are counted here too,
   * because entries of an earlier process count. Otherwise a member that restarts often would never
   * take a snapshot.
   */
  private boolean isOverdue() {
    LogExtent log = effects.log();
    return effects.appliedIndex() - newest >= settings.entries()
        || log.bytesAfter(newest) >= settings.logBytes()
        || log.segmentsAfter(newest) >= settings.segments();
  }

  /**
   * Takes a requested snapshot unless one is in progress, which calls this method again when it
   * ends.
   */
  private void work() {
    if (busy) {
      return;
    }
    long wanted = due;
    due = -1;
    if (reclaim || !waitingFollowers.isEmpty()) {
      reclaim = false;
      // The state of now covers all earlier requests.
      wanted = effects.appliedIndex();
      if (wanted <= newest && rewritten && effects.isDiskLow()) {
        propose();
      }
    }
    if (wanted > newest && effects.fits()) {
      busy = true;
      rewrittenBefore = rewritten;
      rewritten = false;
      effects.take(wanted);
    }
  }

  /**
   * Proposes an entry that changes nothing. Rewriting files applies no entry, a snapshot is named
   * by its index, and on a full disk possibly no client writes another entry.
   */
  private void propose() {
    if (!proposing) {
      proposing = true;
      effects.proposeEmptyEntry();
    }
  }

  /** The proposal ended in whatever way: if nothing was applied, the next check proposes again. */
  public void proposed() {
    proposing = false;
  }

  /** The snapshot in progress is on the disk. */
  public void saved(long index) {
    newest = index;
    newestIsOwn = true;
    olderExist = true;
    readIndexes();
    releaseLog();
    startTransfers();
    if (settings.pauses()) {
      effects.startInterval();
    } else {
      intervalElapsed();
    }
  }

  /** The snapshot in progress failed. The log keeps all entries; only a check tries again. */
  public void saveFailed() {
    rewritten |= rewrittenBefore;
    if (settings.pauses()) {
      effects.startInterval();
    } else {
      busy = false;
    }
  }

  /** The minimum time since the last snapshot has passed. */
  public void intervalElapsed() {
    busy = false;
    work();
  }

  /** A follower needs a snapshot. It waits if none is new enough. */
  public void send(SnapshotRequest request) {
    waitingFollowers.add(request);
    startTransfers();
    work();
  }

  /**
   * Sends the newest snapshot to the followers for which it is new enough. The other followers wait
   * for the next snapshot.
   */
  private void startTransfers() {
    if (waitingFollowers.isEmpty()) {
      return;
    }
    S latest = effects.latest();
    if (latest == null) {
      return;
    }
    long index = effects.indexOf(latest);
    for (SnapshotRequest request : waitingFollowers.servedBy(index)) {
      retention.sending(request.to(), request.transfer(), index);
      effects.transfer(request, latest);
    }
  }

  /**
   * A transfer ended.
   *
   * @param transfer number of the transfer
   * @param ok true if the follower has the content
   */
  public void transferEnded(NodeId to, long transfer, boolean ok) {
    retention.ended(to, transfer, ok);
  }

  /**
   * The progress of the followers.
   *
   * @param status null if this member does not lead
   */
  public void replicated(@Nullable ReplicationStatus status) {
    retention.replicated(status);
    releaseLog();
  }

  /** A damaged snapshot was removed: another one takes its place. */
  public void damagedRemoved() {
    readSnapshots();
    reclaim = true;
    work();
  }

  /**
   * Has partly received snapshots of other members deleted when they are of no use, because they
   * occupy disk space.
   */
  private void discardReceived(boolean low) {
    long applied = effects.appliedIndex();
    if (low || applied >= discarded + settings.entries() || discarded < 0) {
      discarded = applied;
      effects.discardReceived(applied, low);
    }
  }

  /**
   * Releases the log that no snapshot and no follower needs. On a nearly full disk followers need
   * another snapshot instead, and only the newest snapshot can be continued. This requires a
   * snapshot that this process saved: then the state on the disk is at least as new.
   */
  private void releaseLog() {
    long upTo;
    if (effects.isDiskLow()) {
      upTo = newestIsOwn ? newest : LogRetention.oldestUsable(newest, indexes);
      retention.releasedFor(upTo, effects::receiverLostOnFullDisk);
    } else {
      upTo = retention.releasable(newest, indexes, effects.log(), effects::receiverLost);
    }
    effects.retained(retention.retained());
    if (upTo > released) {
      released = upTo;
      effects.release(upTo);
    }
  }

  /**
   * Deletes all snapshots except the newest. Only if this process saved it: a snapshot from an
   * earlier run may have been damaged since, and then an older one is the last undamaged one.
   */
  private void deleteOlder() {
    if (newestIsOwn && olderExist && !deletingOlder) {
      deletingOlder = true;
      effects.deleteOlder(newest);
    }
  }

  /**
   * The removal of older snapshots ended.
   *
   * @param below index that was passed to {@link SnapshotEffects#deleteOlder}
   */
  public void olderDeleted(long below, boolean ok) {
    deletingOlder = false;
    if (ok) {
      olderExist = newest != below;
      readIndexes();
    }
  }

  /** A snapshot after the applied index was received and is not installed: it does not count. */
  private void readSnapshots() {
    newest = effects.newestIndex(effects.appliedIndex()).orElse(newest);
    readIndexes();
  }

  /** The oldest snapshot is removed some time after another one was saved. */
  private void readIndexes() {
    indexes = effects.indexes().orElse(indexes);
  }
}
