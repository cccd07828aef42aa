package io.troupe.watch;

import io.troupe.model.Event;
import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.watch.StreamWatcher.Mode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The rules of one client stream and its watchers (2.9). A watcher is a cursor over the committed
 * revisions. It reads history until it has caught up with the hub, then receives live events, and
 * returns to history when the client does not read fast enough. No event before its cursor is sent
 * twice, and none is skipped. One thread.
 *
 * <p>Every {@code current} is the revision of the state that readers see.
 *
 * @param <T> identifies the sender of a client's request
 */
public final class WatchStreamCore<T> {
  private static final String DUPLICATE_ID = "mvcc: duplicate watch ID provided on the WatchStream";
  private static final String EMPTY_RANGE = "mvcc: watcher range is empty";
  private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";

  /** etcd's text. */
  private static final String TOO_MANY = "etcdserver: too many requests";

  /** Unread responses to requests of a stream above which its next request waits. */
  private static final int MAX_CONTROLS = 10_000;

  /** Approximate memory of a watcher, here and in the hub. */
  private static final int WATCHER_BYTES = 1024;

  /**
   * Settings of a stream.
   *
   * @param bufferBytes unsent bytes above which live events stop; reads of history continue below
   *     half of it
   * @param fragmentBytes size above which a response is split if the client requested fragments
   *     (W17)
   * @param stepBytes the budget of all clients is updated in steps of this size, so that fast
   *     streams never update it
   */
  public record Settings(long bufferBytes, long fragmentBytes, long stepBytes) {
    private static final long STEP = 16 << 10;

    /** With the usual step. */
    public Settings(long bufferBytes, long fragmentBytes) {
      this(bufferBytes, fragmentBytes, STEP);
    }
  }

  private final Settings settings;
  private final WatchStreamEffects<T> effects;
  private final Map<Long, StreamWatcher> watchers = new LinkedHashMap<>();
  private final Map<Long, StreamWatcher> bySerial = new HashMap<>();
  private final WatchIds ids = new WatchIds();
  private final StreamQueue queue;
  private final EventResponses responses;

  /** Sender of a completed request that may not send the next one yet. */
  private @Nullable T held;

  private long serials;

  /** Size of the read in progress. */
  private @Nullable HistoryReadSize reading;

  /**
   * A stream without watchers.
   *
   * @param memory counts the memory of the waiting replies
   */
  public WatchStreamCore(
      Settings settings, MemoryBudget.Share memory, WatchStreamEffects<T> effects) {
    this.settings = settings;
    this.queue = new StreamQueue(memory, settings.stepBytes());
    this.responses = new EventResponses(queue, effects, settings.fragmentBytes());
    this.effects = effects;
  }

  /** Number of watchers, without those that were canceled by request. */
  public int watcherCount() {
    return bySerial.size();
  }

  /** Number of events that wait for the client. */
  public int pendingEvents() {
    return queue.events();
  }

  // ---- from the client

  /** The client can take more replies. */
  public void next() {
    queue.ready();
    proceed();
  }

  /** The client requests a watcher. */
  public void create(WatchRequest request, T sender, long current) {
    String refusal = queue.isRefused() ? TOO_MANY : refusal(request);
    OptionalLong id = refusal == null ? ids.take(request.watchId()) : OptionalLong.empty();
    if (id.isEmpty()) {
      queue.addControl();
      effects.createFailed(current, refusal == null ? DUPLICATE_ID : refusal);
    } else {
      long next = WatchRules.firstRevision(request.startRevision(), current);
      StreamWatcher watcher = new StreamWatcher(id.getAsLong(), ++serials, request, next);
      watchers.put(watcher.id, watcher);
      bySerial.put(watcher.serial, watcher);
      queue.addControl();
      effects.created(watcher.id, current);
      if (next > current) {
        join(watcher);
        effects.askHandled(sender);
        proceed();
        return;
      }
    }
    done(sender);
    proceed();
  }

  private static @Nullable String refusal(WatchRequest request) {
    if (WatchRules.isStartRefused(request.startRevision())) {
      return COMPACTED;
    }
    String denied = request.denied();
    if (denied != null) {
      return denied;
    }
    return WatchRules.isRangeRefused(request.range()) ? EMPTY_RANGE : null;
  }

  /** The client cancels a watcher (W13). */
  public void cancel(long watchId, T sender, long current) {
    StreamWatcher watcher = watchers.get(watchId);
    if (watcher != null && end(watcher, "", current)) {
      effects.askHandled(sender);
    } else {
      done(sender);
    }
    proceed();
  }

  /** The client queries the progress of the stream (W16). */
  public void requestProgress(T sender) {
    effects.askRevision(sender);
  }

  /**
   * A request is completed. Its sender may send the next one unless the client leaves very many
   * responses unread; then the sender waits. A request that made the stream send messages to the
   * hub is completed when the hub has handled them, so that requests of clients do not fill the
   * mailbox of the hub.
   */
  private void done(T sender) {
    queue.watchers((long) watchers.size() * WATCHER_BYTES);
    if (queue.controls() < MAX_CONTROLS) {
      effects.accepted(sender);
    } else {
      held = sender;
    }
  }

  // ---- timers and permissions

  /** Called some time after {@link WatchStreamEffects#retryLater}. */
  public void retry() {
    proceed();
  }

  /** Called at the interval of progress notifications (W15). */
  public void progressTick() {
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.request.progressNotify()) {
        effects.askRevision(null);
        return;
      }
    }
  }

  /**
   * Permissions changed. Earlier commits are in the queue already, or are not sent any more. Later
   * commits find no watcher (docs/decisions/0073).
   */
  public void rightsChanged(long current) {
    for (StreamWatcher watcher : List.copyOf(watchers.values())) {
      String denied = watcher.request.denied();
      if (denied != null && watcher.mode != Mode.COMPACTED) {
        end(watcher, denied, current);
      }
    }
    proceed();
  }

  // ---- from the hub

  /** From here on the watcher receives live events; none was missed. */
  public void joined(long serial) {
    StreamWatcher watcher = bySerial.get(serial);
    if (watcher != null && watcher.mode == Mode.JOINING) {
      watcher.mode = Mode.SYNCED;
    }
  }

  /** The hub has published later revisions: the watcher must read them from history first. */
  public void lagging(long serial) {
    StreamWatcher watcher = bySerial.get(serial);
    if (watcher != null && watcher.mode == Mode.JOINING) {
      watcher.mode = Mode.CATCHING_UP;
    }
    proceed();
  }

  /** As {@link WatchHubEffects#readFromHistory}. The hub has already removed these watchers. */
  public void readFromHistory(List<Long> serialsOfWatchers, long revision) {
    for (long serial : serialsOfWatchers) {
      StreamWatcher watcher = bySerial.get(serial);
      if (watcher != null && watcher.mode == Mode.SYNCED) {
        watcher.mode = Mode.CATCHING_UP;
        watcher.nextRevision = Math.max(watcher.nextRevision, revision);
      }
    }
    proceed();
  }

  /**
   * Live events, as {@link WatchHubEffects#deliver}.
   *
   * @param revision last revision that the hub has processed
   */
  public void deliver(long revision, List<Delivery> deliveries) {
    for (Delivery delivery : deliveries) {
      StreamWatcher watcher = bySerial.get(delivery.serial());
      if (watcher != null && watcher.mode == Mode.SYNCED) {
        responses.live(watcher, delivery.events());
      }
    }
    flush();
    if (queue.bytes() > settings.bufferBytes() || queue.isShort()) {
      returnToHistory(revision);
    }
  }

  /**
   * The client does not read fast enough: from now on its watchers read history when it has caught
   * up. All of them advance past the delivered revisions, also those that had no event there, so
   * that they do not read these revisions again and are not canceled by a compaction of them.
   */
  private void returnToHistory(long delivered) {
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.mode == Mode.SYNCED) {
        watcher.mode = Mode.CATCHING_UP;
        watcher.nextRevision = Math.max(watcher.nextRevision, delivered + 1);
        effects.leave(watcher.serial);
      }
    }
  }

  /**
   * Last revision that the hub has processed. All events up to it were delivered before this input,
   * so they are in the queue already.
   *
   * @param client as in the request
   */
  public void revision(long revision, @Nullable T client) {
    if (client != null) {
      boolean all = !watchers.isEmpty();
      for (StreamWatcher watcher : watchers.values()) {
        all &= isAt(watcher, revision);
      }
      if (all) {
        queue.addControl();
        effects.streamProgress(revision);
      }
      done(client);
      proceed();
      return;
    }
    if (!queue.isEmpty()) {
      // The client does not read: another notification would only wait as well.
      return;
    }
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.request.progressNotify() && watcher.idle && isAt(watcher, revision)) {
        queue.addControl();
        effects.progress(watcher.id, revision);
      }
      watcher.idle = true;
    }
    proceed();
  }

  /**
   * A watcher that has read revisions from history which the hub has not processed yet is not
   * there: the revision would be lower than that of its last events.
   */
  private static boolean isAt(StreamWatcher watcher, long revision) {
    return watcher.mode == Mode.SYNCED
        && watcher.request.startRevision() <= revision
        && watcher.nextRevision <= revision + 1;
  }

  /** The hub has handled all messages that the stream sent for a request. */
  public void handled(T client) {
    done(client);
    proceed();
  }

  // ---- history

  /**
   * Events of whole revisions were read.
   *
   * @param events in order; may be empty
   * @param nextRevision every event below it was returned
   * @param storeRevision revision of the state at the time of the read
   */
  public void historyRead(long serial, List<Event> events, long nextRevision, long storeRevision) {
    endRead();
    StreamWatcher watcher = bySerial.get(serial);
    if (watcher != null) {
      watcher.minimum = HistoryReadSize.SMALL;
      List<SharedEvent> found = new ArrayList<>(events.size());
      for (Event event : events) {
        found.add(new SharedEvent(event));
      }
      responses.send(watcher, storeRevision, SharedEvents.ofOne(found));
      watcher.nextRevision = nextRevision;
      if (nextRevision > storeRevision) {
        join(watcher);
      } else {
        watcher.mode = Mode.CATCHING_UP;
        // Moved to the end, so that a long history does not delay short ones.
        watchers.remove(watcher.id);
        watchers.put(watcher.id, watcher);
      }
    }
    proceed();
  }

  /** The next revision with events does not fit into the size of the read. */
  public void historyLarge(long serial, long revision, long storeRevision) {
    HistoryReadSize size = endRead();
    StreamWatcher watcher = bySerial.get(serial);
    if (watcher != null && size == HistoryReadSize.SMALL) {
      watcher.minimum = HistoryReadSize.LARGE;
      watcher.mode = Mode.CATCHING_UP;
    } else if (watcher != null) {
      watcher.minimum = HistoryReadSize.SMALL;
      watcher.idle = false;
      queue.addControl();
      effects.largeRevision(watcher.id, watcher.request, storeRevision, revision);
      watcher.nextRevision = revision + 1;
      watcher.mode = Mode.CATCHING_UP;
    }
    proceed();
  }

  /** The revisions that the watcher needs are compacted (W12). */
  public void historyCompacted(long serial, long compactedRevision) {
    endRead();
    StreamWatcher watcher = bySerial.get(serial);
    if (watcher != null) {
      watcher.mode = Mode.COMPACTED;
      queue.addControl();
      effects.canceled(watcher.id, 0, compactedRevision, "");
    }
    proceed();
  }

  private @Nullable HistoryReadSize endRead() {
    HistoryReadSize size = reading;
    reading = null;
    queue.release();
    return size;
  }

  /**
   * Starts one read at a time, for the watcher that has waited longest. While other clients use up
   * the memory, a client that holds little reads little at a time.
   */
  private void readNext() {
    boolean refused = false;
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.mode == Mode.CATCHING_UP) {
        HistoryReadSize size = reserve(watcher.minimum);
        if (size != null) {
          watcher.mode = Mode.READING;
          reading = size;
          effects.readHistory(watcher.serial, watcher.request, watcher.nextRevision, size);
          return;
        }
        refused = true;
      }
    }
    if (refused) {
      effects.retryLater();
    }
  }

  private @Nullable HistoryReadSize reserve(HistoryReadSize minimum) {
    if (queue.reserve(HistoryReadSize.LARGE)) {
      return HistoryReadSize.LARGE;
    }
    return minimum == HistoryReadSize.SMALL && queue.reserve(HistoryReadSize.SMALL)
        ? HistoryReadSize.SMALL
        : null;
  }

  // ---- inside

  /** Sends what can be sent, and continues reading history if the queue has space. */
  private void proceed() {
    flush();
    if (reading == null && queue.bytes() <= settings.bufferBytes() / 2 && !queue.isShort()) {
      readNext();
    }
    T sender = held;
    if (sender != null && queue.controls() < MAX_CONTROLS) {
      held = null;
      effects.accepted(sender);
    }
  }

  private void flush() {
    if (queue.take()) {
      effects.flush();
    } else if (queue.isHeldBack()) {
      effects.retryLater();
    }
  }

  private void join(StreamWatcher watcher) {
    watcher.mode = Mode.JOINING;
    effects.join(watcher.serial, watcher.request.range(), watcher.nextRevision);
  }

  /** Returns true if the hub also has to handle the end of the watcher. */
  private boolean end(StreamWatcher watcher, String reason, long current) {
    watchers.remove(watcher.id);
    ids.free(watcher.id);
    bySerial.remove(watcher.serial);
    boolean live = watcher.mode == Mode.SYNCED || watcher.mode == Mode.JOINING;
    if (live) {
      effects.leave(watcher.serial);
    }
    queue.addControl();
    effects.canceled(watcher.id, current, 0, reason);
    return live;
  }
}
