package io.troupe.simulation.world;

import static io.troupe.simulation.check.Violation.require;

import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.MvccReader;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import io.troupe.watch.DeliveredLots;
import io.troupe.watch.Delivery;
import io.troupe.watch.EventFilter;
import io.troupe.watch.HistoryReadSize;
import io.troupe.watch.WatchRequest;
import io.troupe.watch.WatchStreamCore;
import io.troupe.watch.WatchStreamEffects;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Runs {@link WatchStreamCore} for one client's stream. */
public final class WatchStream implements WatchStreamEffects<Runnable> {
  private static final long PROGRESS_US = 700_000;
  private static final long RETRY_US = 100_000;

  /** Small, so that slow clients lag. */
  private static final WatchStreamCore.Settings SETTINGS =
      new WatchStreamCore.Settings(8_000, 500, 200);

  /** Bytes that the connection takes before the client has read them. */
  private static final long WINDOW = 1_500;

  /** Approximate size of a reply, and of each event, besides keys and values. */
  private static final long OVERHEAD = 64;

  private record Request(long watchId, WatchRecord.Asked asked) implements WatchRequest {
    @Override
    public KeyRange range() {
      return asked.range();
    }

    @Override
    public long startRevision() {
      return asked.startRevision();
    }

    @Override
    public EventFilter filter() {
      return asked.filter();
    }

    @Override
    public boolean prevKv() {
      return asked.prevKv();
    }

    @Override
    public boolean progressNotify() {
      return asked.progressNotify();
    }

    @Override
    public boolean fragment() {
      return asked.fragment();
    }

    @Override
    public @Nullable String denied() {
      return null;
    }
  }

  private final MemberRun run;
  private final WatchHub hub;
  private final WatchSink sink;
  private final SimActor actor;
  private final WatchStreamCore<Runnable> core;

  /** Requests of the client; the next one is sent when the last one was accepted. */
  private final ArrayDeque<Consumer<Runnable>> requests = new ArrayDeque<>();

  private final MemoryBudget.Share memory;
  private final DeliveredLots unhandled = new DeliveredLots();

  /** Sizes of the replies that the client has not read. */
  private final ArrayDeque<Long> unread = new ArrayDeque<>();

  private long unreadBytes;
  private long arrivalUs;

  /** The connection takes no more replies. */
  private boolean full;

  private List<WatchReply> replies = new ArrayList<>();
  private boolean busy;
  private boolean retrying;
  private boolean closed;

  WatchStream(MemberRun run, WatchHub hub, WatchSink sink) {
    this.run = run;
    this.hub = hub;
    this.sink = sink;
    this.actor = run.actor();
    this.memory = run.memory.openStream();
    this.memory.track();
    this.core = new WatchStreamCore<>(SETTINGS, memory, this);
    tell(core::next);
    run.process.after(run.random.nextLong(PROGRESS_US), this::progressTick);
  }

  private void tell(Runnable message) {
    actor.tell(
        () -> {
          if (!closed) {
            message.run();
          }
        });
  }

  private void progressTick() {
    if (!closed) {
      tell(core::progressTick);
      run.process.after(PROGRESS_US, this::progressTick);
    }
  }

  // ---- from the client

  /** The client requests a watcher with its own number, above 0. */
  public void create(long id, WatchRecord.Asked asked) {
    request(
        sender ->
            core.create(
                new Request(id, asked), sender, run.apply.machine().reader().view().revision()));
  }

  /** The client requests its progress. */
  public void requestProgress() {
    request(core::requestProgress);
  }

  private void request(Consumer<Runnable> request) {
    run.process.arrive(
        () -> {
          requests.addLast(request);
          sendNext();
        });
  }

  private void sendNext() {
    if (!busy && !requests.isEmpty()) {
      busy = true;
      Consumer<Runnable> request = requests.removeFirst();
      tell(
          () ->
              request.accept(
                  () -> {
                    busy = false;
                    sendNext();
                  }));
    }
  }

  /** The client has read the oldest replies. */
  public void next() {
    run.process.arrive(
        () -> {
          long read = unread.removeFirst();
          unreadBytes -= read;
          memory.sent(read);
          if (full && unreadBytes <= WINDOW) {
            full = false;
            tell(core::next);
          }
        });
  }

  /** The client closes the stream. */
  public void close() {
    closed = true;
    run.process.arrive(this::stop);
  }

  private void stop() {
    actor.tell(
        () -> {
          run.memory.close(memory);
          unhandled.releaseAll();
          hub.stopped(this);
        });
  }

  /** Memory of the deliveries that this stream has not handled. */
  DeliveredLots unhandled() {
    return unhandled;
  }

  /** The process or the connection is lost. */
  void breakOff() {
    if (!closed) {
      closed = true;
      run.world.scheduler().after(run.world.network().streamDelay(), sink::broken);
    }
  }

  // ---- from the hub

  void joined(long serial) {
    tell(() -> core.joined(serial));
  }

  void lagging(long serial) {
    tell(() -> core.lagging(serial));
  }

  void readFromHistory(List<Long> serials, long revision) {
    run.world.coverage().count("watchers that read a revision from history", serials.size());
    tell(() -> core.readFromHistory(serials, revision));
  }

  void deliver(long revision, List<Delivery> deliveries) {
    tell(
        () -> {
          core.deliver(revision, deliveries);
          unhandled.releaseFirst();
        });
  }

  void revision(long revision, Runnable client) {
    tell(() -> core.revision(revision, client));
  }

  void revision(long revision) {
    tell(() -> core.revision(revision, null));
  }

  void handled(Runnable client) {
    tell(() -> core.handled(client));
  }

  // ---- effects

  @Override
  public void join(long serial, KeyRange range, long nextRevision) {
    hub.join(this, serial, range, nextRevision);
  }

  @Override
  public void leave(long serial) {
    run.world.coverage().count("watchers that returned to history");
    hub.leave(this, serial);
  }

  @Override
  public void askRevision(@Nullable Runnable client) {
    if (client == null) {
      hub.askRevision(this);
    } else {
      hub.askRevision(this, client);
    }
  }

  @Override
  public void askHandled(Runnable client) {
    hub.askHandled(this, client);
  }

  @Override
  public void readHistory(long serial, WatchRequest request, long from, HistoryReadSize size) {
    run.world.coverage().count("watch history reads");
    run.process.after(
        run.random.nextInt(2_000),
        () -> {
          HistoryResult result = read(request, from, 0);
          tell(() -> historyRead(serial, result));
        });
  }

  private HistoryResult read(WatchRequest request, long from, int fromSub) {
    long pieceBytes = run.random.nextInt(4) == 0 ? 100 : 1 << 20;
    MvccReader.HistoryLimits limits =
        new MvccReader.HistoryLimits(1 + run.random.nextInt(40), 1 << 20, pieceBytes);
    return run.apply
        .machine()
        .reader()
        .history(request.range(), from, fromSub, limits, request.prevKv());
  }

  private void historyRead(long serial, HistoryResult result) {
    if (result instanceof HistoryResult.Compacted compacted) {
      core.historyCompacted(serial, compacted.compactedRevision());
    } else if (result instanceof HistoryResult.Events events && events.nextSub() > 0) {
      core.historyLarge(serial, events.nextRevision(), events.storeRevision());
    } else if (result instanceof HistoryResult.Events events) {
      core.historyRead(serial, events.events(), events.nextRevision(), events.storeRevision());
    }
  }

  @Override
  public void created(long watchId, long revision) {
    replies.add(new WatchReply.Created(watchId, revision));
  }

  @Override
  public void createFailed(long revision, String reason) {
    require(reason.equals("etcdserver: too many requests"), "watcher refused", reason);
    run.world.coverage().count("watchers refused for memory");
    replies.add(new WatchReply.Refused());
  }

  @Override
  public void canceled(long watchId, long revision, long compactRevision, String reason) {
    run.world.coverage().count("watchers canceled by compaction");
    replies.add(new WatchReply.Canceled(watchId, compactRevision));
  }

  @Override
  public void streamProgress(long revision) {
    replies.add(new WatchReply.Progress(-1, revision));
  }

  @Override
  public void progress(long watchId, long revision) {
    replies.add(new WatchReply.Progress(watchId, revision));
  }

  @Override
  public void events(
      long watchId, long headerRevision, SharedEvents events, boolean prevKv, boolean fragment) {
    List<Event> sent = new ArrayList<>(events.size());
    for (SharedEvent shared : events) {
      Event event = shared.event();
      sent.add(prevKv ? event : new Event(event.type(), event.kv(), null));
    }
    replies.add(new WatchReply.Events(watchId, headerRevision, sent, fragment));
  }

  /** The whole revision becomes one response, as for a client that accepts no fragments. */
  @Override
  public void largeRevision(
      long watchId, WatchRequest request, long headerRevision, long revision) {
    run.world.coverage().count("large revisions sent to watchers");
    List<SharedEvent> events = new ArrayList<>();
    int sub = 0;
    do {
      HistoryResult result = read(request, revision, sub);
      if (!(result instanceof HistoryResult.Events piece)) {
        // Compacted meanwhile: the real stream fails too.
        breakOff();
        stop();
        return;
      }
      for (Event event : piece.events()) {
        if (event.kv().modRevision() == revision && request.filter().accepts(event)) {
          events.add(new SharedEvent(event));
        }
      }
      sub = piece.nextRevision() == revision ? piece.nextSub() : 0;
    } while (sub > 0);
    if (!events.isEmpty()) {
      events(watchId, headerRevision, SharedEvents.ofOne(events), request.prevKv(), false);
    }
  }

  @Override
  public void flush() {
    List<WatchReply> out = replies;
    replies = new ArrayList<>();
    if (out.isEmpty()) {
      // A large revision without an event that passes the filter.
      tell(core::next);
      return;
    }
    long size = size(out);
    memory.encoded(size);
    unread.addLast(size);
    unreadBytes += size;
    if (unreadBytes <= WINDOW) {
      run.process.after(run.random.nextInt(100), () -> tell(core::next));
    } else {
      full = true;
    }
    long nowUs = run.world.scheduler().nowUs();
    arrivalUs = Math.max(arrivalUs, nowUs + run.world.network().streamDelay());
    run.world
        .scheduler()
        .after(
            arrivalUs - nowUs,
            () -> {
              if (!closed) {
                sink.replies(out);
              }
            });
  }

  private static long size(List<WatchReply> replies) {
    long size = 0;
    for (WatchReply reply : replies) {
      size += OVERHEAD;
      if (reply instanceof WatchReply.Events events) {
        for (Event event : events.events()) {
          KeyValue prev = event.prev();
          size += OVERHEAD + size(event.kv()) + (prev == null ? 0 : OVERHEAD + size(prev));
        }
      }
    }
    return size;
  }

  private static long size(KeyValue kv) {
    return kv.key().length() + (long) kv.value().length();
  }

  @Override
  public void retryLater() {
    if (!retrying) {
      retrying = true;
      run.world
          .coverage()
          .count(
              memory.isHeldBack()
                  ? "watch streams held back for memory"
                  : "watch history reads delayed for memory");
      run.process.after(
          RETRY_US,
          () -> {
            retrying = false;
            tell(core::retry);
          });
    }
  }

  @Override
  public void accepted(Runnable client) {
    run.process.after(1 + run.random.nextInt(100), client);
  }
}
