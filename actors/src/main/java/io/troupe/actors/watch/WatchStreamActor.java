package io.troupe.actors.watch;

import io.troupe.actors.watch.StreamWatcher.Mode;
import io.troupe.metrics.WatchMetrics;
import io.troupe.model.Event;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.MvccReader;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.SharedEvent;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.BatchCutter;
import io.troupe.watch.WatchIds;
import io.troupe.watch.WatchRules;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.apache.pekko.actor.typed.javadsl.TimerScheduler;
import org.jspecify.annotations.Nullable;

/**
 * One client stream and its watchers (2.9). A watcher is a cursor over the committed revisions. It
 * reads history until it has caught up with the hub, then receives live events, and returns to
 * history when the client does not read fast enough. No event before its cursor is sent twice, and
 * none is skipped.
 */
public final class WatchStreamActor extends AbstractBehavior<WatchStreamCommand> {
  private static final String DUPLICATE_ID = "mvcc: duplicate watch ID provided on the WatchStream";
  private static final String EMPTY_RANGE = "mvcc: watcher range is empty";
  private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";

  /**
   * Limits of a read of history (W8). A revision of more than 4 MiB is sent to the client in pieces
   * that are not buffered here.
   */
  private static final MvccReader.HistoryLimits READ =
      new MvccReader.HistoryLimits(1000, 1 << 20, 4 << 20);

  /** Unread responses to requests of a stream above which its next request waits. */
  private static final int MAX_CONTROLS = 10_000;

  /** Approximate memory of a watcher, here and in the hub. */
  private static final int WATCHER_BYTES = 1024;

  /** etcd's text. */
  private static final String TOO_MANY = "etcdserver: too many requests";

  private static final long RESPONSE_OVERHEAD = 128;

  private record HistoryRead(
      StreamWatcher watcher, @Nullable HistoryResult result, @Nullable Throwable failure)
      implements WatchStreamCommand.Private {}

  /** Interval at which replies that are held back are tried again. */
  private static final Duration RETRY = Duration.ofMillis(100);

  private enum Retry implements WatchStreamCommand.Private {
    INSTANCE
  }

  private enum ProgressTick implements WatchStreamCommand.Private {
    INSTANCE
  }

  /**
   * Settings of a stream.
   *
   * @param bufferBytes unsent bytes above which live events stop; reads of history continue below
   *     half of it
   * @param fragmentBytes size above which a response is split if the client requested fragments
   *     (W17)
   * @param progressInterval W15
   * @param history executor for reads of history
   * @param metrics metrics of watches
   */
  public record Settings(
      long bufferBytes,
      long fragmentBytes,
      Duration progressInterval,
      Executor history,
      WatchMetrics metrics) {}

  private final TimerScheduler<WatchStreamCommand> timers;
  private final ActorRef<WatchCommand> hub;
  private final MvccReader reader;
  private final Settings settings;
  private final Map<Long, StreamWatcher> watchers = new LinkedHashMap<>();
  private final Map<Long, StreamWatcher> bySerial = new HashMap<>();
  private final WatchIds ids = new WatchIds();
  private final StreamQueue queue;
  private final DeliveredLots unhandled;

  /** Sender of a completed request that may not send the next one yet. */
  private @Nullable ActorRef<Done> held;

  private long serials;
  private int counted;
  private int countedPending;
  private boolean reading;

  private WatchStreamActor(
      ActorContext<WatchStreamCommand> context,
      TimerScheduler<WatchStreamCommand> timers,
      ActorRef<WatchCommand> hub,
      MvccReader reader,
      Settings settings,
      MemoryBudget.Share memory,
      DeliveredLots unhandled) {
    super(context);
    this.timers = timers;
    this.unhandled = unhandled;
    this.queue = new StreamQueue(memory);
    this.hub = hub;
    this.reader = reader;
    this.settings = settings;
  }

  /**
   * A stream without watchers.
   *
   * @param memory counts the memory of the waiting replies
   * @param unhandled memory of deliveries; the hub adds it, this actor releases it
   */
  static Behavior<WatchStreamCommand> create(
      ActorRef<WatchCommand> hub,
      MvccReader reader,
      Settings settings,
      MemoryBudget.Share memory,
      DeliveredLots unhandled) {
    return Behaviors.setup(
        context ->
            Behaviors.withTimers(
                timers -> {
                  // Up to a tenth more, so that streams of one start do not tick together (W15).
                  long ms = settings.progressInterval().toMillis();
                  long jitter = ThreadLocalRandom.current().nextLong(ms / 10 + 1);
                  timers.startTimerWithFixedDelay(
                      ProgressTick.INSTANCE, Duration.ofMillis(ms + jitter));
                  return new WatchStreamActor(
                      context, timers, hub, reader, settings, memory, unhandled);
                }));
  }

  @Override
  public Receive<WatchStreamCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(HubMessage.Deliver.class, this::onDeliver)
        .onMessage(WatchStreamCommand.Next.class, this::onNext)
        .onMessage(WatchStreamCommand.Create.class, this::onCreate)
        .onMessage(WatchStreamCommand.Cancel.class, this::onCancel)
        .onMessage(WatchStreamCommand.RequestProgress.class, this::onRequestProgress)
        .onMessage(HubMessage.Joined.class, this::onJoined)
        .onMessage(HubMessage.Lagging.class, this::onLagging)
        .onMessage(HubMessage.ReadFromHistory.class, this::onReadFromHistory)
        .onMessage(HubMessage.Revision.class, this::onRevision)
        .onMessage(HubMessage.Handled.class, this::onHandled)
        .onMessage(HistoryRead.class, this::onHistoryRead)
        .onMessageEquals(WatchStreamCommand.RightsChanged.INSTANCE, this::onRightsChanged)
        .onMessageEquals(ProgressTick.INSTANCE, this::onProgressTick)
        .onMessageEquals(Retry.INSTANCE, this::proceed)
        .onMessageEquals(WatchStreamCommand.Close.INSTANCE, Behaviors::stopped)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<WatchStreamCommand> onNext(WatchStreamCommand.Next next) {
    queue.taker(next.replies());
    return proceed();
  }

  /** Sends what can be sent, and continues reading history if the queue has space. */
  private Behavior<WatchStreamCommand> proceed() {
    count(bySerial.size());
    flush();
    if (!reading && queue.bytes() <= settings.bufferBytes() / 2 && !queue.isShort()) {
      readNext();
    }
    ActorRef<Done> sender = held;
    if (sender != null && queue.controls() < MAX_CONTROLS) {
      held = null;
      sender.tell(Done.getInstance());
    }
    return this;
  }

  /**
   * A request is completed. Its sender may send the next one unless the client leaves very many
   * responses unread; then the sender waits.
   */
  private void done(ActorRef<Done> sender) {
    queue.watchers((long) watchers.size() * WATCHER_BYTES);
    if (queue.controls() < MAX_CONTROLS) {
      sender.tell(Done.getInstance());
    } else {
      held = sender;
    }
  }

  /**
   * As {@link #done}, but after the hub has handled the messages of the request, so that requests
   * of clients do not fill the mailbox of the hub.
   */
  private void doneWhenHandled(ActorRef<Done> sender) {
    hub.tell(new HubMessage.AskHandled(getContext().getSelf(), sender));
  }

  private Behavior<WatchStreamCommand> onHandled(HubMessage.Handled handled) {
    done(handled.client());
    return proceed();
  }

  private void flush() {
    queue.flush();
    if (queue.isHeldBack() && !timers.isTimerActive(Retry.INSTANCE)) {
      timers.startSingleTimer(Retry.INSTANCE, RETRY);
    }
    countPending(queue.events());
  }

  private void countPending(int now) {
    if (now != countedPending) {
      settings.metrics().pending(now - countedPending);
      countedPending = now;
    }
  }

  private void count(int now) {
    if (now != counted) {
      settings.metrics().watchers(now - counted);
      counted = now;
    }
  }

  private Behavior<WatchStreamCommand> onCreate(WatchStreamCommand.Create create) {
    long current = reader.view().revision();
    String refusal = queue.isRefused() ? TOO_MANY : refusal(create);
    OptionalLong id = refusal == null ? ids.take(create.watchId()) : OptionalLong.empty();
    if (id.isEmpty()) {
      queue.add(new WatchReply.CreateFailed(current, refusal == null ? DUPLICATE_ID : refusal));
    } else {
      long next = WatchRules.firstRevision(create.startRevision(), current);
      StreamWatcher watcher =
          new StreamWatcher(
              id.getAsLong(),
              create,
              new HubMessage.Watcher(getContext().getSelf(), ++serials),
              next);
      watcher.idle = true;
      watchers.put(watcher.id, watcher);
      bySerial.put(watcher.serial, watcher);
      queue.add(new WatchReply.Created(watcher.id, current));
      if (next > current) {
        join(watcher);
        doneWhenHandled(create.replyTo());
        return proceed();
      }
    }
    done(create.replyTo());
    return proceed();
  }

  private static @Nullable String refusal(WatchStreamCommand.Create create) {
    if (WatchRules.isStartRefused(create.startRevision())) {
      return COMPACTED;
    }
    String denied = create.right().refusal(create.range());
    if (denied != null) {
      return denied;
    }
    return WatchRules.isRangeRefused(create.range()) ? EMPTY_RANGE : null;
  }

  private void join(StreamWatcher watcher) {
    watcher.mode = Mode.JOINING;
    hub.tell(new HubMessage.Join(watcher.handle, watcher.create.range(), watcher.nextRevision));
  }

  private Behavior<WatchStreamCommand> onJoined(HubMessage.Joined joined) {
    StreamWatcher watcher = bySerial.get(joined.serial());
    if (watcher != null && watcher.mode == Mode.JOINING) {
      watcher.mode = Mode.SYNCED;
    }
    return this;
  }

  private Behavior<WatchStreamCommand> onLagging(HubMessage.Lagging lagging) {
    StreamWatcher watcher = bySerial.get(lagging.serial());
    if (watcher != null && watcher.mode == Mode.JOINING) {
      watcher.mode = Mode.CATCHING_UP;
    }
    return proceed();
  }

  private Behavior<WatchStreamCommand> onCancel(WatchStreamCommand.Cancel cancel) {
    StreamWatcher watcher = watchers.get(cancel.watchId());
    if (watcher != null && end(watcher, "")) {
      doneWhenHandled(cancel.replyTo());
    } else {
      done(cancel.replyTo());
    }
    return proceed();
  }

  /** Returns true if the hub also has to handle the end of the watcher. */
  private boolean end(StreamWatcher watcher, String reason) {
    watchers.remove(watcher.id);
    ids.free(watcher.id);
    bySerial.remove(watcher.serial);
    boolean live = watcher.mode == Mode.SYNCED || watcher.mode == Mode.JOINING;
    if (live) {
      hub.tell(new HubMessage.Leave(watcher.handle));
    }
    queue.add(new WatchReply.Canceled(watcher.id, reader.view().revision(), 0, reason));
    return live;
  }

  /**
   * Earlier commits are in the queue already, or are not sent any more. Later commits find no
   * watcher (docs/decisions/0073).
   */
  private Behavior<WatchStreamCommand> onRightsChanged() {
    for (StreamWatcher watcher : List.copyOf(watchers.values())) {
      String denied = watcher.create.right().refusal(watcher.create.range());
      if (denied != null && watcher.mode != Mode.COMPACTED) {
        end(watcher, denied);
      }
    }
    return proceed();
  }

  private Behavior<WatchStreamCommand> onDeliver(HubMessage.Deliver deliver) {
    for (HubMessage.Delivery delivery : deliver.deliveries()) {
      StreamWatcher watcher = bySerial.get(delivery.serial());
      if (watcher != null
          && watcher.mode == Mode.SYNCED
          && delivery.revision() >= watcher.nextRevision) {
        watcher.nextRevision = delivery.revision() + 1;
        send(watcher, delivery.revision(), delivery.events());
      }
    }
    flush();
    // From here on the events count in the queue.
    unhandled.releaseFirst();
    if (queue.bytes() > settings.bufferBytes() || queue.isShort()) {
      returnToHistory(deliver.revision());
    }
    return this;
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
        hub.tell(new HubMessage.Leave(watcher.handle));
      }
    }
  }

  /** The hub has already removed these watchers. */
  private Behavior<WatchStreamCommand> onReadFromHistory(HubMessage.ReadFromHistory large) {
    for (long serial : large.serials()) {
      StreamWatcher watcher = bySerial.get(serial);
      if (watcher != null && watcher.mode == Mode.SYNCED) {
        watcher.mode = Mode.CATCHING_UP;
        watcher.nextRevision = Math.max(watcher.nextRevision, large.revision());
      }
    }
    return proceed();
  }

  private void send(StreamWatcher watcher, long headerRevision, List<SharedEvent> events) {
    List<SharedEvent> wanted = new ArrayList<>(events.size());
    for (SharedEvent event : events) {
      if (watcher.create.filter().accepts(event.event())) {
        wanted.add(event);
      }
    }
    if (wanted.isEmpty()) {
      return;
    }
    watcher.idle = false;
    boolean prevKv = watcher.create.prevKv();
    if (!watcher.create.fragment()) {
      queue.add(new WatchReply.Events(watcher.id, headerRevision, wanted, prevKv, false));
      return;
    }
    List<BatchCutter.Piece> pieces =
        BatchCutter.cut(
            wanted.size(),
            i -> StreamQueue.size(wanted.get(i).event(), prevKv),
            RESPONSE_OVERHEAD,
            settings.fragmentBytes());
    for (BatchCutter.Piece piece : pieces) {
      queue.add(
          new WatchReply.Events(
              watcher.id,
              headerRevision,
              List.copyOf(wanted.subList(piece.from(), piece.to())),
              prevKv,
              piece.fragment()));
    }
  }

  /** Starts one read at a time, for the watcher that has waited longest. */
  private void readNext() {
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.mode == Mode.CATCHING_UP) {
        watcher.mode = Mode.READING;
        reading = true;
        long from = watcher.nextRevision;
        getContext()
            .pipeToSelf(
                CompletableFuture.supplyAsync(
                    () ->
                        reader.history(
                            watcher.create.range(), from, 0, READ, watcher.create.prevKv()),
                    settings.history()),
                (result, failure) -> new HistoryRead(watcher, result, failure));
        return;
      }
    }
  }

  private Behavior<WatchStreamCommand> onHistoryRead(HistoryRead read) {
    reading = false;
    if (read.failure() != null) {
      throw new IllegalStateException("history cannot be read", read.failure());
    }
    StreamWatcher watcher = read.watcher();
    if (!bySerial.containsKey(watcher.serial)) {
      return proceed();
    }
    if (read.result() instanceof HistoryResult.Compacted compacted) {
      watcher.mode = Mode.COMPACTED;
      queue.add(new WatchReply.Canceled(watcher.id, 0, compacted.compactedRevision(), ""));
    } else if (read.result() instanceof HistoryResult.Events large && large.nextSub() > 0) {
      watcher.idle = false;
      queue.add(large(watcher, large));
      watcher.nextRevision = large.nextRevision() + 1;
      watcher.mode = Mode.CATCHING_UP;
    } else if (read.result() instanceof HistoryResult.Events events) {
      List<SharedEvent> found = new ArrayList<>(events.events().size());
      for (Event event : events.events()) {
        found.add(new SharedEvent(event));
      }
      send(watcher, events.storeRevision(), found);
      watcher.nextRevision = events.nextRevision();
      if (watcher.nextRevision > events.storeRevision()) {
        join(watcher);
      } else {
        watcher.mode = Mode.CATCHING_UP;
        // Moved to the end, so that a long history does not delay short ones.
        watchers.remove(watcher.id);
        watchers.put(watcher.id, watcher);
      }
    }
    return proceed();
  }

  private WatchReply large(StreamWatcher watcher, HistoryResult.Events begun) {
    WatchStreamCommand.Create create = watcher.create;
    return new WatchReply.LargeRevision(
        watcher.id,
        begun.storeRevision(),
        create.prevKv(),
        create.fragment(),
        new RevisionPieces(reader, create, begun.nextRevision(), settings.history()));
  }

  private Behavior<WatchStreamCommand> onRequestProgress(
      WatchStreamCommand.RequestProgress request) {
    hub.tell(new HubMessage.AskRevision(getContext().getSelf(), request.replyTo()));
    return this;
  }

  private Behavior<WatchStreamCommand> onProgressTick() {
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.create.progressNotify()) {
        hub.tell(new HubMessage.AskRevision(getContext().getSelf(), null));
        return this;
      }
    }
    return this;
  }

  /**
   * All events up to this revision were delivered before this message, so they are in the queue
   * already.
   */
  private Behavior<WatchStreamCommand> onRevision(HubMessage.Revision hubAt) {
    ActorRef<Done> client = hubAt.client();
    if (client != null) {
      boolean all = !watchers.isEmpty();
      for (StreamWatcher watcher : watchers.values()) {
        all &= isAt(watcher, hubAt.revision());
      }
      if (all) {
        queue.add(new WatchReply.Progress(WatchReply.NO_WATCHER, hubAt.revision()));
      }
      done(client);
      return proceed();
    }
    if (!queue.isEmpty()) {
      // The client does not read: another notification would only wait as well.
      return this;
    }
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.create.progressNotify() && watcher.idle && isAt(watcher, hubAt.revision())) {
        queue.add(new WatchReply.Progress(watcher.id, hubAt.revision()));
      }
      watcher.idle = true;
    }
    return proceed();
  }

  /**
   * A watcher that has read revisions from history which the hub has not processed yet is not
   * there: the revision would be lower than that of its last events.
   */
  private static boolean isAt(StreamWatcher watcher, long revision) {
    return watcher.mode == Mode.SYNCED
        && watcher.create.startRevision() <= revision
        && watcher.nextRevision <= revision + 1;
  }

  private Behavior<WatchStreamCommand> onStop() {
    count(0);
    countPending(0);
    unhandled.releaseAll();
    queue.fail(new RefusedException(Refusal.STOPPED));
    return this;
  }
}
