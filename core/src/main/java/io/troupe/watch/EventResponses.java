package io.troupe.watch;

import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides which events of a watcher go into which response of its stream. Counts each response in
 * the queue of the stream. One thread.
 */
final class EventResponses {
  private static final long RESPONSE_OVERHEAD = 128;

  /**
   * Maximum size of a response with several live revisions: far below the 4 MiB that clients of
   * gRPC accept by default.
   */
  private static final long LIVE_RESPONSE_BYTES = 64 << 10;

  private final StreamQueue queue;
  private final WatchStreamEffects<?> effects;
  private final long fragmentBytes;

  /**
   * Starts without responses.
   *
   * @param fragmentBytes {@link WatchStreamCore.Settings#fragmentBytes}
   */
  EventResponses(StreamQueue queue, WatchStreamEffects<?> effects, long fragmentBytes) {
    this.queue = queue;
    this.effects = effects;
    this.fragmentBytes = fragmentBytes;
  }

  /**
   * Sends live events, and moves the watcher behind them. Revisions share a response if they fit
   * into {@link #LIVE_RESPONSE_BYTES} together. Its header has the last of them (W7).
   *
   * @param events of whole revisions, in order, at least one
   */
  void live(StreamWatcher watcher, SharedEvents events) {
    boolean prevKv = watcher.request.prevKv();
    if (events.maxBytes(prevKv) <= LIVE_RESPONSE_BYTES) {
      liveResponse(watcher, events);
      return;
    }
    int from = 0;
    long bytes = 0;
    int at = 0;
    while (at < events.size()) {
      int end = at;
      long ofRevision = 0;
      long revision = revision(events.get(at));
      while (end < events.size() && revision(events.get(end)) == revision) {
        ofRevision += events.get(end).event().maxBytes(prevKv);
        end++;
      }
      if (at > from && bytes + ofRevision > LIVE_RESPONSE_BYTES) {
        liveResponse(watcher, part(events, from, at));
        from = at;
        bytes = 0;
      }
      bytes += ofRevision;
      at = end;
    }
    liveResponse(watcher, part(events, from, at));
  }

  /** All events remain shared. */
  private static SharedEvents part(SharedEvents events, int from, int to) {
    return to - from == events.size() ? events : SharedEvents.ofOne(events.subList(from, to));
  }

  private void liveResponse(StreamWatcher watcher, SharedEvents events) {
    long last = revision(events.get(events.size() - 1));
    if (last >= watcher.nextRevision) {
      send(watcher, last, events);
      watcher.nextRevision = last + 1;
    }
  }

  private static long revision(SharedEvent event) {
    return event.event().kv().modRevision();
  }

  /**
   * Sends those of the events that the watcher wants and has not got, in one response unless it
   * accepts fragments.
   *
   * @param headerRevision revision of the header (W7)
   */
  void send(StreamWatcher watcher, long headerRevision, SharedEvents events) {
    WatchRequest request = watcher.request;
    SharedEvents wanted = wanted(watcher, events);
    if (wanted.isEmpty()) {
      return;
    }
    watcher.idle = false;
    if (!request.fragment()
        || RESPONSE_OVERHEAD + wanted.maxBytes(request.prevKv()) < fragmentBytes) {
      response(watcher, headerRevision, wanted, false);
      return;
    }
    List<BatchCutter.Piece> pieces =
        BatchCutter.cut(
            wanted.size(),
            i -> wanted.get(i).event().maxBytes(request.prevKv()),
            RESPONSE_OVERHEAD,
            fragmentBytes);
    for (BatchCutter.Piece piece : pieces) {
      response(watcher, headerRevision, part(wanted, piece.from(), piece.to()), piece.fragment());
    }
  }

  /** Most watchers want all events, and share them. */
  private static SharedEvents wanted(StreamWatcher watcher, SharedEvents events) {
    EventFilter filter = watcher.request.filter();
    if (events.isEmpty()
        || (filter.equals(EventFilter.NONE) && revision(events.get(0)) >= watcher.nextRevision)) {
      return events;
    }
    List<SharedEvent> wanted = new ArrayList<>(events.size());
    for (SharedEvent event : events) {
      if (revision(event) >= watcher.nextRevision && filter.accepts(event.event())) {
        wanted.add(event);
      }
    }
    return SharedEvents.ofOne(wanted);
  }

  private void response(
      StreamWatcher watcher, long headerRevision, SharedEvents events, boolean fragment) {
    boolean prevKv = watcher.request.prevKv();
    queue.addEvents(events, prevKv);
    effects.events(watcher.id, headerRevision, events, prevKv, fragment);
  }
}
