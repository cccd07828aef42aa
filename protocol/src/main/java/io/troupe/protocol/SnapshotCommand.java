package io.troupe.protocol;

import io.troupe.model.NodeId;

/** Messages to the snapshot actor. */
public sealed interface SnapshotCommand {
  /**
   * The state has applied everything up to {@code index}; a snapshot is due.
   *
   * @param term term of the entry at {@code index}
   */
  record Due(long index, long term) implements SnapshotCommand {}

  /**
   * Files were rewritten: the space of deleted data is free only when no snapshot refers to it. A
   * snapshot is taken as soon as an entry was applied after the newest one; on a nearly full disk
   * this is forced.
   */
  enum Reclaim implements SnapshotCommand {
    INSTANCE
  }

  /**
   * A follower lacks compacted entries: a snapshot is transferred to it. Reply: {@link
   * RaftCommand.SnapshotSent}.
   *
   * @param transfer number of the transfer, unique until the actors restart
   * @param term term of this leader
   * @param atLeast the snapshot covers at least this index; one is created if there is none
   */
  record Send(NodeId to, long transfer, long term, long atLeast) implements SnapshotCommand {}

  /** Internal messages: timers and adapted replies. */
  non-sealed interface Private extends SnapshotCommand {}
}
