package io.troupe.protocol;

/** What the snapshot room takes. */
public sealed interface SnapshotCommand {
  /**
   * The state holds all up to {@code index}; a snapshot is due.
   *
   * @param term term of the entry at {@code index}
   */
  record Due(long index, long term) implements SnapshotCommand {}

  /**
   * Disk space is wanted: what was deleted is free only when no snapshot holds on to it. A snapshot
   * is taken now if anything was applied since the newest.
   */
  enum Reclaim implements SnapshotCommand {
    INSTANCE
  }

  /** Only the owner's timers and adapted replies. */
  non-sealed interface Private extends SnapshotCommand {}
}
