package io.troupe.protocol;

import java.util.List;

/** What a watch stream tells its client. */
public sealed interface WatchReply {
  /** The id that stands for no watcher, or for all of a stream. */
  long NO_WATCHER = -1;

  /** Whom it concerns. */
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
   * The end of a watcher (W12, W13), also because the right to it ended.
   *
   * @param compactRevision 0 unless compaction ended it
   * @param reason empty unless the right ended
   */
  record Canceled(long watchId, long revision, long compactRevision, String reason)
      implements WatchReply {}

  /** How far a watcher, or the whole stream, is (W15, W16). */
  record Progress(long watchId, long revision) implements WatchReply {}

  /**
   * Changes (W6, W7).
   *
   * @param events never empty
   * @param fragment more of the same revision follows (W17)
   */
  record Events(
      long watchId, long revision, List<SharedEvent> events, boolean prevKv, boolean fragment)
      implements WatchReply {}

  /**
   * All changes of one revision for a watcher, which are too many to be held at once.
   *
   * @param prevKv whether the client wants previous records
   * @param fragments whether the client takes the revision in several responses (W17); in one
   *     otherwise (W6)
   * @param pieces the events, after the filters; there may be none
   */
  record LargeRevision(
      long watchId, long revision, boolean prevKv, boolean fragments, EventPieces pieces)
      implements WatchReply {}
}
