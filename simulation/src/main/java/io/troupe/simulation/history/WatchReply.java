package io.troupe.simulation.history;

import io.troupe.model.Event;
import java.util.List;

/** A reply of a watch stream to its client. */
public sealed interface WatchReply {
  /** The watcher that it concerns; -1 is every watcher of the stream. */
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

  /**
   * The oldest requested watcher without a reply was refused, because clients use up the memory.
   */
  record Refused() implements WatchReply {
    @Override
    public long watchId() {
      return -1;
    }
  }

  /** All events up to this revision were sent. */
  record Progress(long watchId, long revision) implements WatchReply {}

  /** The watcher was canceled because the revisions that it needs are compacted. */
  record Canceled(long watchId, long compactRevision) implements WatchReply {}
}
