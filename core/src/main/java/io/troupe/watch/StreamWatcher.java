package io.troupe.watch;

/** One watcher of a stream and its position. */
final class StreamWatcher {
  /** Source of its events. */
  enum Mode {
    /** Reads history; the stream starts the read when its queue has space. */
    CATCHING_UP,
    /** A read of history is in progress. */
    READING,
    /** Sent a Join to the hub. */
    JOINING,
    /** Receives live events. */
    SYNCED,
    /** Canceled by compaction; its id stays in use until the client cancels it (W12). */
    COMPACTED
  }

  final long id;
  final long serial;
  final WatchRequest request;
  Mode mode = Mode.CATCHING_UP;
  long nextRevision;

  /** Smallest read that returns its next revision, as far as is known. */
  HistoryReadSize minimum = HistoryReadSize.SMALL;

  /** True when nothing was sent since the last progress tick (W15). */
  boolean idle = true;

  StreamWatcher(long id, long serial, WatchRequest request, long nextRevision) {
    this.id = id;
    this.serial = serial;
    this.request = request;
    this.nextRevision = nextRevision;
  }
}
