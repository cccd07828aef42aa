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
import org.jspecify.annotations.Nullable;

/**
 * One client stream and its watchers (2.9). A watcher is a cursor over the committed revisions: it
 * reads history until it has reached the hub, then takes live events, and goes back to history when
 * the client does not read fast enough. Nothing below its cursor is sent twice, nothing is skipped.
 */
public final class WatchStreamActor extends AbstractBehavior<WatchStreamCommand> {
  private static final String DUPLICATE_ID = "mvcc: duplicate watch ID provided on the WatchStream";
  private static final String EMPTY_RANGE = "mvcc: watcher range is empty";
  private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";

  /** W8. A revision of more than 4 MiB goes to the client in pieces that are not held here. */
  private static final MvccReader.HistoryLimits READ =
      new MvccReader.HistoryLimits(1000, 1 << 20, 4 << 20);

  /** Unread responses to requests of a stream, above which its next request waits. */
  private static final int MAX_CONTROLS = 10_000;

  /** What a watcher weighs, here and in the hub, about. */
  private static final int WATCHER_BYTES = 1024;

  /** etcd's text. */
  private static final String TOO_MANY = "etcdserver: too many requests";

  private static final long RESPONSE_OVERHEAD = 128;

  private record HistoryRead(
      StreamWatcher watcher, @Nullable HistoryResult answer, @Nullable Throwable failure)
      implements WatchStreamCommand.Private {}

  private enum ProgressTick implements WatchStreamCommand.Private {
    INSTANCE
  }

  /**
   * Numbers.
   *
   * @param bufferBytes unsent bytes above which live events stop (and half of which lets history go
   *     on)
   * @param fragmentBytes size from which a response is split for who wants that (W17)
   * @param progressInterval W15
   * @param history where history is read
   * @param metrics what is counted
   */
  public record Settings(
      long bufferBytes,
      long fragmentBytes,
      Duration progressInterval,
      Executor history,
      WatchMetrics metrics) {}

  private final ActorRef<WatchCommand> hub;
  private final MvccReader reader;
  private final Settings settings;
  private final Map<Long, StreamWatcher> watchers = new LinkedHashMap<>();
  private final Map<Long, StreamWatcher> bySerial = new HashMap<>();
  private final WatchIds ids = new WatchIds();
  private final StreamQueue queue;
  private final DeliveredLots unhandled;

  /** Sender of a request that is done, who may not send the next one yet. */
  private @Nullable ActorRef<Done> held;

  private long serials;
  private int counted;
  private int countedPending;
  private boolean reading;

  private WatchStreamActor(
      ActorContext<WatchStreamCommand> context,
      ActorRef<WatchCommand> hub,
      MvccReader reader,
      Settings settings,
      MemoryBudget.Share memory,
      DeliveredLots unhandled) {
    super(context);
    this.unhandled = unhandled;
    this.queue = new StreamQueue(memory);
    this.hub = hub;
    this.reader = reader;
    this.settings = settings;
  }

  /**
   * A stream without watchers.
   *
   * @param memory counts what waits for the client
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
                  return new WatchStreamActor(context, hub, reader, settings, memory, unhandled);
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
        .onMessage(HubMessage.Behind.class, this::onBehind)
        .onMessage(HubMessage.ReadFromHistory.class, this::onReadFromHistory)
        .onMessage(HubMessage.Revision.class, this::onRevision)
        .onMessage(HubMessage.Handled.class, this::onHandled)
        .onMessage(HistoryRead.class, this::onHistoryRead)
        .onMessageEquals(WatchStreamCommand.RightsChanged.INSTANCE, this::onRightsChanged)
        .onMessageEquals(ProgressTick.INSTANCE, this::onProgressTick)
        .onMessageEquals(WatchStreamCommand.Close.INSTANCE, Behaviors::stopped)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<WatchStreamCommand> onNext(WatchStreamCommand.Next next) {
    queue.taker(next.replies());
    return proceed();
  }

  /** Sends what can be sent and reads on where there is room. */
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
   * A request is done. Its sender may send the next one unless the client leaves very many
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

  /** As {@link #done}, but the requests of clients must not fill the mailbox of the hub either. */
  private void doneWhenHandled(ActorRef<Done> sender) {
    hub.tell(new HubMessage.AskHandled(getContext().getSelf(), sender));
  }

  private Behavior<WatchStreamCommand> onHandled(HubMessage.Handled handled) {
    done(handled.client());
    return proceed();
  }

  private void flush() {
    queue.flush();
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
      watcher.silent = true;
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

  private Behavior<WatchStreamCommand> onBehind(HubMessage.Behind behind) {
    StreamWatcher watcher = bySerial.get(behind.serial());
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

  /** True if the hub is to handle it too. */
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
   * What was committed before is in the queue already or is not sent any more; what comes later
   * finds no watcher (docs/decisions/0073).
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
    // From here on the events count where they wait for the client.
    unhandled.releaseFirst();
    if (queue.bytes() > settings.bufferBytes() || queue.isShort()) {
      fallBehind(deliver.revision());
    }
    return this;
  }

  /**
   * The client does not read fast enough: what comes now is read from history when it has caught
   * up. Also a watcher that found nothing in what the hub has passed on is done with that: it must
   * not read it again, nor be ended by a compaction of it.
   */
  private void fallBehind(long delivered) {
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.mode == Mode.SYNCED) {
        watcher.mode = Mode.CATCHING_UP;
        watcher.nextRevision = Math.max(watcher.nextRevision, delivered + 1);
        hub.tell(new HubMessage.Leave(watcher.handle));
      }
    }
  }

  /** The hub has removed these watchers already. */
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
    watcher.silent = false;
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

  /** One read at a time; the watcher that waited longest comes first. */
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
                (answer, failure) -> new HistoryRead(watcher, answer, failure));
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
    if (read.answer() instanceof HistoryResult.Compacted compacted) {
      watcher.mode = Mode.COMPACTED;
      queue.add(new WatchReply.Canceled(watcher.id, 0, compacted.compactedRevision(), ""));
    } else if (read.answer() instanceof HistoryResult.Events large && large.nextSub() > 0) {
      watcher.silent = false;
      queue.add(large(watcher, large));
      watcher.nextRevision = large.nextRevision() + 1;
      watcher.mode = Mode.CATCHING_UP;
    } else if (read.answer() instanceof HistoryResult.Events events) {
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
        // Behind the others: a long history does not hold up short ones.
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
   * Everything up to this revision was delivered before this message, so it is in the queue
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
      // The client does not read: another notice is of no use to it, and would wait as well.
      return this;
    }
    for (StreamWatcher watcher : watchers.values()) {
      if (watcher.create.progressNotify() && watcher.silent && isAt(watcher, hubAt.revision())) {
        queue.add(new WatchReply.Progress(watcher.id, hubAt.revision()));
      }
      watcher.silent = true;
    }
    return proceed();
  }

  private static boolean isAt(StreamWatcher watcher, long revision) {
    return watcher.mode == Mode.SYNCED && watcher.create.startRevision() <= revision;
  }

  private Behavior<WatchStreamCommand> onStop() {
    count(0);
    countPending(0);
    unhandled.releaseAll();
    queue.fail(new RefusedException(Refusal.STOPPED));
    return this;
  }
}
