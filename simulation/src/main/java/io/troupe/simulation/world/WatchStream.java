package io.troupe.simulation.world;

import io.troupe.model.Event;
import io.troupe.mvcc.HistoryResult;
import io.troupe.simulation.history.WatchRecord;
import io.troupe.simulation.history.WatchReply;
import io.troupe.watch.BatchCutter;
import io.troupe.watch.WatchRules;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One client's stream of watchers. A watcher is a cursor: it reads history until it has caught up
 * with the hub, then receives live commits. A client that does not read loses its live watchers.
 */
public final class WatchStream {
  private static final long PROGRESS_US = 700_000;
  private static final int QUEUE = 40;
  private static final int FRAGMENT_BYTES = 300;

  private enum Mode {
    CATCHING_UP,
    READING,
    JOINING,
    SYNCED,
    COMPACTED
  }

  private static final class Watcher {
    final long id;
    final WatchRecord.Asked asked;
    Mode mode = Mode.CATCHING_UP;
    long nextRevision;
    boolean idle = true;

    Watcher(long id, WatchRecord.Asked asked, long nextRevision) {
      this.id = id;
      this.asked = asked;
      this.nextRevision = nextRevision;
    }
  }

  private final MemberRun run;
  private final WatchHub hub;
  private final WatchSink sink;
  private final SimActor actor;
  private final Map<Long, Watcher> watchers = new LinkedHashMap<>();
  private List<WatchReply> queue = new ArrayList<>();
  private boolean clientReady = true;
  private boolean reading;
  private boolean closed;

  WatchStream(MemberRun run, WatchHub hub, WatchSink sink) {
    this.run = run;
    this.hub = hub;
    this.sink = sink;
    this.actor = run.actor();
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

  // ---- from the client

  /** The client requests a watcher with its own number. */
  public void create(long id, WatchRecord.Asked asked) {
    run.process.arrive(
        () ->
            tell(
                () -> {
                  long current = run.apply.machine().reader().view().revision();
                  long next = WatchRules.firstRevision(asked.startRevision(), current);
                  Watcher watcher = new Watcher(id, asked, next);
                  watchers.put(id, watcher);
                  queue.add(new WatchReply.Created(id, current));
                  if (next > current) {
                    join(watcher);
                  }
                  proceed();
                }));
  }

  /** The client has handled the last replies and can take more. */
  public void next() {
    run.process.arrive(
        () ->
            tell(
                () -> {
                  clientReady = true;
                  proceed();
                }));
  }

  /** The client requests its progress. */
  public void requestProgress() {
    run.process.arrive(() -> hub.askRevision(this, true));
  }

  /** The client closes the stream. */
  public void close() {
    closed = true;
    run.process.arrive(() -> hub.close(this));
  }

  /** The process or the connection is lost. */
  void breakOff() {
    if (!closed) {
      closed = true;
      run.world.scheduler().after(run.world.network().streamDelay(), sink::broken);
    }
  }

  // ---- from the hub

  void joined(long id) {
    tell(
        () -> {
          Watcher watcher = watchers.get(id);
          if (watcher != null && watcher.mode == Mode.JOINING) {
            watcher.mode = Mode.SYNCED;
          }
        });
  }

  void lagging(long id) {
    tell(
        () -> {
          Watcher watcher = watchers.get(id);
          if (watcher != null && watcher.mode == Mode.JOINING) {
            watcher.mode = Mode.CATCHING_UP;
          }
          proceed();
        });
  }

  /**
   * The hub removed the watcher. All events before a revision were delivered before this message.
   */
  void removedFromHub(long id, long nextRevision) {
    tell(
        () -> {
          Watcher watcher = watchers.get(id);
          if (watcher != null && watcher.mode == Mode.SYNCED) {
            watcher.nextRevision = Math.max(watcher.nextRevision, nextRevision);
            watcher.mode = Mode.CATCHING_UP;
          }
          proceed();
        });
  }

  void deliver(List<WatchHub.Delivery> deliveries) {
    tell(
        () -> {
          for (WatchHub.Delivery delivery : deliveries) {
            Watcher watcher = watchers.get(delivery.serial());
            if (watcher != null
                && watcher.mode == Mode.SYNCED
                && delivery.revision() >= watcher.nextRevision) {
              watcher.nextRevision = delivery.revision() + 1;
              send(watcher, delivery.revision(), delivery.events());
            }
          }
          flush();
          if (queue.size() > QUEUE) {
            returnToHistory(deliveries.get(deliveries.size() - 1).revision() + 1);
          }
        });
  }

  /** All events up to a revision were delivered before this message. */
  void revision(long revision, boolean manual) {
    tell(
        () -> {
          if (manual) {
            boolean all = !watchers.isEmpty();
            for (Watcher watcher : watchers.values()) {
              all &= isAt(watcher, revision);
            }
            if (all) {
              queue.add(new WatchReply.Progress(-1, revision));
            }
          } else {
            for (Watcher watcher : watchers.values()) {
              if (watcher.asked.progressNotify() && watcher.idle && isAt(watcher, revision)) {
                queue.add(new WatchReply.Progress(watcher.id, revision));
              }
              watcher.idle = true;
            }
          }
          proceed();
        });
  }

  private static boolean isAt(Watcher watcher, long revision) {
    return watcher.mode == Mode.SYNCED && watcher.asked.startRevision() <= revision;
  }

  // ---- inside

  private void progressTick() {
    if (!closed) {
      hub.askRevision(this, false);
      run.process.after(PROGRESS_US, this::progressTick);
    }
  }

  private void join(Watcher watcher) {
    watcher.mode = Mode.JOINING;
    hub.join(new WatchHub.Handle(this, watcher.id), watcher.asked.range(), watcher.nextRevision);
  }

  /** All synced watchers have passed the delivered revisions, with or without an event for them. */
  private void returnToHistory(long nextRevision) {
    for (Watcher watcher : watchers.values()) {
      if (watcher.mode == Mode.SYNCED) {
        watcher.mode = Mode.CATCHING_UP;
        watcher.nextRevision = Math.max(watcher.nextRevision, nextRevision);
        hub.leave(new WatchHub.Handle(this, watcher.id));
        run.world.coverage().count("watchers that returned to history");
      }
    }
  }

  private void proceed() {
    flush();
    if (!reading && queue.size() <= QUEUE / 2) {
      readNext();
    }
  }

  private void readNext() {
    for (Watcher watcher : watchers.values()) {
      if (watcher.mode == Mode.CATCHING_UP) {
        watcher.mode = Mode.READING;
        reading = true;
        run.world.coverage().count("watch history reads");
        run.process.after(
            run.random.nextInt(2_000),
            () -> {
              HistoryResult result =
                  run.apply
                      .machine()
                      .reader()
                      .history(
                          watcher.asked.range(),
                          watcher.nextRevision,
                          1 + run.random.nextInt(40),
                          1 << 20,
                          watcher.asked.prevKv());
              tell(() -> historyRead(watcher, result));
            });
        return;
      }
    }
  }

  private void historyRead(Watcher watcher, HistoryResult result) {
    reading = false;
    if (result instanceof HistoryResult.Compacted compacted) {
      watcher.mode = Mode.COMPACTED;
      run.world.coverage().count("watchers canceled by compaction");
      queue.add(new WatchReply.Canceled(watcher.id, compacted.compactedRevision()));
    } else if (result instanceof HistoryResult.Events events) {
      send(watcher, events.storeRevision(), events.events());
      watcher.nextRevision = events.nextRevision();
      if (watcher.nextRevision > events.storeRevision()) {
        join(watcher);
      } else {
        watcher.mode = Mode.CATCHING_UP;
        watchers.remove(watcher.id);
        watchers.put(watcher.id, watcher);
      }
    }
    proceed();
  }

  private void send(Watcher watcher, long headerRevision, List<Event> events) {
    List<Event> wanted = new ArrayList<>(events.size());
    for (Event event : events) {
      if (watcher.asked.filter().accepts(event)) {
        wanted.add(watcher.asked.prevKv() ? event : new Event(event.type(), event.kv(), null));
      }
    }
    if (wanted.isEmpty()) {
      return;
    }
    watcher.idle = false;
    if (!watcher.asked.fragment()) {
      queue.add(new WatchReply.Events(watcher.id, headerRevision, wanted, false));
      return;
    }
    for (BatchCutter.Piece piece :
        BatchCutter.cut(
            wanted.size(), i -> wanted.get(i).kv().value().length() + 64L, 0, FRAGMENT_BYTES)) {
      queue.add(
          new WatchReply.Events(
              watcher.id,
              headerRevision,
              wanted.subList(piece.from(), piece.to()),
              piece.fragment()));
    }
  }

  private void flush() {
    if (clientReady && !queue.isEmpty()) {
      clientReady = false;
      List<WatchReply> out = List.copyOf(queue);
      queue = new ArrayList<>();
      run.world
          .scheduler()
          .after(
              run.world.network().streamDelay(),
              () -> {
                if (!closed) {
                  sink.replies(out);
                }
              });
    }
  }
}
