package io.troupe.protocol;

import io.troupe.model.SharedEvents;

/** Messages of a watch stream to its client. */
public sealed interface WatchReply {
  /** Watch id for no watcher, or for all of a stream. */
  long NO_WATCHER = -1;

  /** Id of the watcher. */
  long watchId();

  /** The store revision of the header. */
  long revision();

  /** W2. */
  record Created(long watchId, long revision) implements WatchReply {}

  /** A create that was refused (W1, W4, W9): created and cancelled in one. */
  record CreateFailed(long revision, String reason) implements WatchReply {
    @Override
    public long watchId() {
      return NO_WATCHER;
    }
  }

  /**
   * A watcher was cancelled (W12, W13), also because its permission was revoked.
   *
   * @param compactRevision 0 unless a compaction cancelled it
   * @param reason empty unless the permission was revoked
   */
  record Canceled(long watchId, long revision, long compactRevision, String reason)
      implements WatchReply {}

  /** Progress of a watcher, or of the whole stream (W15, W16). */
  record Progress(long watchId, long revision) implements WatchReply {}

  /**
   * Changes (W6, W7).
   *
   * @param events never empty
   * @param fragment more of the same revision follows (W17)
   */
  record Events(long watchId, long revision, SharedEvents events, boolean prevKv, boolean fragment)
      implements WatchReply {}

  /**
   * All changes of one revision for a watcher, which are too many to be held together.
   *
   * @param prevKv true if the client wants previous records
   * @param fragments true if the client accepts the revision in several responses (W17); otherwise
   *     in one (W6)
   * @param pieces the events, after the filters; there may be none
   */
  record LargeRevision(
      long watchId, long revision, boolean prevKv, boolean fragments, EventPieces pieces)
      implements WatchReply {}
}
