package io.troupe.actors.watch;

import io.troupe.protocol.WatchStreamCommand;

/** One watcher of a stream and where it stands. */
final class StreamWatcher {
  /** How it gets its events. */
  enum Mode {
    /** Reads history; the stream picks it when there is room. */
    CATCHING_UP,
    /** A read of history is in progress. */
    READING,
    /** Asked the hub to join. */
    JOINING,
    /** Gets live events. */
    SYNCED,
    /** Ended by compaction; its id stays taken until the client cancels it (W12). */
    COMPACTED
  }

  final long id;
  final long serial;
  final WatchStreamCommand.Create create;
  final HubMessage.Watcher handle;
  Mode mode = Mode.CATCHING_UP;
  long nextRevision;

  /** True when nothing was sent since the last progress tick (W15). */
  boolean silent;

  StreamWatcher(
      long id, WatchStreamCommand.Create create, HubMessage.Watcher handle, long nextRevision) {
    this.id = id;
    this.serial = handle.serial();
    this.create = create;
    this.handle = handle;
    this.nextRevision = nextRevision;
  }
}
