package io.troupe.simulation.history;

import io.troupe.model.Event;
import java.util.List;

/** What a watch stream tells its client. */
public sealed interface WatchReply {
  /** Whom it concerns; -1 is every watcher of the stream. */
  long watchId();

  /** The watcher exists. */
  record Created(long watchId, long revision) implements WatchReply {}

  /**
   * Events.
   *
   * @param fragment true if more of the same revision follows
   */
  record Events(long watchId, long headerRevision, List<Event> events, boolean fragment)
      implements WatchReply {
    /** Copies the list. */
    public Events {
      events = List.copyOf(events);
    }
  }

  /** Everything up to this revision was told. */
  record Progress(long watchId, long revision) implements WatchReply {}

  /** The watcher ended because what it needs is compacted. */
  record Canceled(long watchId, long compactRevision) implements WatchReply {}
}
