package io.troupe.watch;

import io.troupe.model.SharedEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides which events of a watcher go into which response of its stream. Counts each response in
 * the queue of the stream. One thread.
 */
final class EventResponses {
  private static final long RESPONSE_OVERHEAD = 128;

  /**
   * Size from which no further revision is added to a response with live events: far below the 4
   * MiB that clients of gRPC accept by default.
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
   * Sends live events, and moves the watcher behind them. One response has as many whole revisions
   * as fit into {@link #LIVE_RESPONSE_BYTES}, at least one. Its header has the last of them (W7).
   *
   * @param events of whole revisions, in order, at least one
   */
  void live(StreamWatcher watcher, List<SharedEvent> events) {
    boolean prevKv = watcher.request.prevKv();
    int from = 0;
    long bytes = 0;
    long last = revision(events.get(0));
    for (int i = 0; i < events.size(); i++) {
      long revision = revision(events.get(i));
      if (revision != last && bytes >= LIVE_RESPONSE_BYTES) {
        liveResponse(watcher, last, events.subList(from, i));
        from = i;
        bytes = 0;
      }
      last = revision;
      bytes += StreamQueue.size(events.get(i).event(), prevKv);
    }
    liveResponse(watcher, last, events.subList(from, events.size()));
  }

  private void liveResponse(StreamWatcher watcher, long last, List<SharedEvent> events) {
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
  void send(StreamWatcher watcher, long headerRevision, List<SharedEvent> events) {
    WatchRequest request = watcher.request;
    List<SharedEvent> wanted = new ArrayList<>(events.size());
    for (SharedEvent event : events) {
      if (revision(event) >= watcher.nextRevision && request.filter().accepts(event.event())) {
        wanted.add(event);
      }
    }
    if (wanted.isEmpty()) {
      return;
    }
    watcher.idle = false;
    if (!request.fragment()) {
      response(watcher, headerRevision, wanted, false);
      return;
    }
    List<BatchCutter.Piece> pieces =
        BatchCutter.cut(
            wanted.size(),
            i -> StreamQueue.size(wanted.get(i).event(), request.prevKv()),
            RESPONSE_OVERHEAD,
            fragmentBytes);
    for (BatchCutter.Piece piece : pieces) {
      response(
          watcher,
          headerRevision,
          List.copyOf(wanted.subList(piece.from(), piece.to())),
          piece.fragment());
    }
  }

  private void response(
      StreamWatcher watcher, long headerRevision, List<SharedEvent> events, boolean fragment) {
    boolean prevKv = watcher.request.prevKv();
    queue.addEvents(events, prevKv);
    effects.events(watcher.id, headerRevision, events, prevKv, fragment);
  }
}
