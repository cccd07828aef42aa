package io.troupe.snapshot;

import io.troupe.model.NodeId;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the shell of a {@link SnapshotCore} must read and execute. A read of the disk that fails
 * returns empty: the core continues with the last known values, and its next check reads again.
 *
 * @param <S> a snapshot on the disk
 */
public interface SnapshotEffects<S> {

  // ---- reads

  /** Index of the last applied entry, 0 if there is none. */
  long appliedIndex();

  /** Disk space of the log as of now. */
  LogExtent log();

  /** Whether the disk is nearly full. */
  boolean isDiskLow();

  /** Whether a snapshot that is taken now fits on the disk. */
  boolean fits();

  /** Indexes of all snapshots on the disk, ascending. */
  Optional<List<Long>> indexes();

  /** Index of the newest complete snapshot up to {@code index}; 0 if there is none. */
  Optional<Long> newestIndex(long index);

  /** The newest complete snapshot that can be sent to another member, also a received one. */
  @Nullable S latest();

  /** Index of a snapshot. */
  long indexOf(S snapshot);

  /** Whether the snapshot holds files that the state has rewritten or removed since. */
  boolean holdsRewrittenFiles(long index);

  // ---- effects

  /**
   * Takes a snapshot of the state of now and saves it. Ends with {@link SnapshotCore#saved} or
   * {@link SnapshotCore#saveFailed}, after this call has returned.
   *
   * @param index the state has applied at least this entry
   */
  void take(long index);

  /** Calls {@link SnapshotCore#intervalElapsed} after the minimum time between two snapshots. */
  void startInterval();

  /** Removes the snapshots before {@code index}. Ends with {@link SnapshotCore#olderDeleted}. */
  void deleteOlder(long index);

  /** Proposes an entry that changes nothing. Ends with {@link SnapshotCore#proposed}. */
  void proposeEmptyEntry();

  /** Starts a transfer. Ends with {@link SnapshotCore#transferEnded}. */
  void transfer(SnapshotRequest request, S snapshot);

  /**
   * Removes partly received snapshots of other members that are of no use.
   *
   * @param applied applied index
   * @param all true to remove all of them, because the disk is nearly full
   */
  void discardReceived(long applied, boolean all);

  /** Queries the raft actor. Ends with {@link SnapshotCore#replicated}. */
  void queryReplication();

  /** The log up to {@code index} is no longer needed. Indexes ascend. */
  void release(long index);

  /** What the log keeps, after each change. */
  void retained(LogRetention.Retained retained);

  /**
   * Log that a receiver of a snapshot needs is removed, because it is larger than the limit.
   *
   * @param index last index that the receiver is known to have
   * @param bytes size of the log after it
   */
  void receiverLost(NodeId receiver, long index, long bytes);

  /** As {@link #receiverLost}, because the disk is nearly full. */
  void receiverLostOnFullDisk(NodeId receiver, long index);
}
