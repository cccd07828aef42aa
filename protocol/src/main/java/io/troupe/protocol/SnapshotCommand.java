package io.troupe.protocol;

import io.troupe.model.NodeId;

/** What the snapshot actor takes. */
public sealed interface SnapshotCommand {
  /**
   * The state holds all up to {@code index}; a snapshot is due.
   *
   * @param term term of the entry at {@code index}
   */
  record Due(long index, long term) implements SnapshotCommand {}

  /**
   * Files were rewritten: what was deleted is free only when no snapshot holds on to it. A snapshot
   * is taken as soon as anything was applied since the newest; on a nearly full disk that is
   * brought about.
   */
  enum Reclaim implements SnapshotCommand {
    INSTANCE
  }

  /**
   * A follower lacks entries that are gone: a snapshot is brought to it. Answered with {@link
   * RaftCommand.SnapshotSent}.
   *
   * @param transfer number of the transfer, unique until the actors restart
   * @param term term of this leader
   * @param atLeast the snapshot covers at least this index; one is made if there is none
   */
  record Send(NodeId to, long transfer, long term, long atLeast) implements SnapshotCommand {}

  /** Only the owner's timers and adapted replies. */
  non-sealed interface Private extends SnapshotCommand {}
}
