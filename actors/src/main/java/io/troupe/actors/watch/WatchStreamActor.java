package io.troupe.actors.watch;

import io.troupe.metrics.WatchMetrics;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Refusal;
import io.troupe.model.SharedEvents;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.MvccReader;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.ReplyTo;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.DeliveredLots;
import io.troupe.watch.HistoryReadSize;
import io.troupe.watch.WatchRequest;
import io.troupe.watch.WatchStreamCore;
import io.troupe.watch.WatchStreamEffects;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
 * Runs {@link WatchStreamCore} for one client stream: turns messages into inputs and effects into
 * messages, and decides nothing. Holds the replies that wait for the client's connection.
 */
public final class WatchStreamActor extends AbstractBehavior<WatchStreamCommand>
    implements WatchStreamEffects<ReplyTo<Done>> {
  /**
   * A result of a read of history.
   *
   * @param result as the store returned it, without events if it is large
   * @param large true if the next revision does not fit into the size of the read
   */
  private record Found(HistoryResult result, boolean large) {}

  private record HistoryRead(long serial, @Nullable Found found, @Nullable Throwable failure)
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
  private final WatchStreamCore<ReplyTo<Done>> core;
  private final MemoryBudget.Share memory;
  private final DeliveredLots unhandled;
  private List<WatchReply> replies = new ArrayList<>();
  private @Nullable CompletableFuture<List<WatchReply>> taker;
  private int countedWatchers;
  private int countedPending;

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
    this.hub = hub;
    this.reader = reader;
    this.memory = memory;
    this.settings = settings;
    this.core =
        new WatchStreamCore<>(
            new WatchStreamCore.Settings(settings.bufferBytes(), settings.fragmentBytes()),
            memory,
            this);
  }

  /**
   * A stream without watchers.
   *
   * @param memory counts the memory of the waiting replies; this actor closes it when it stops,
   *     because it keeps them until then
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
        .onMessage(
            WatchStreamCommand.Create.class,
            m -> feed(() -> core.create(m, m.replyTo(), current())))
        .onMessage(
            WatchStreamCommand.Cancel.class,
            m -> feed(() -> core.cancel(m.watchId(), m.replyTo(), current())))
        .onMessage(
            WatchStreamCommand.RequestProgress.class,
            m -> feed(() -> core.requestProgress(m.replyTo())))
        .onMessage(HubMessage.Joined.class, m -> feed(() -> core.joined(m.serial())))
        .onMessage(HubMessage.Lagging.class, m -> feed(() -> core.lagging(m.serial())))
        .onMessage(
            HubMessage.ReadFromHistory.class,
            m -> feed(() -> core.readFromHistory(m.serials(), m.revision())))
        .onMessage(
            HubMessage.Revision.class, m -> feed(() -> core.revision(m.revision(), m.client())))
        .onMessage(HubMessage.Handled.class, m -> feed(() -> core.handled(m.client())))
        .onMessage(HistoryRead.class, this::onHistoryRead)
        .onMessageEquals(
            WatchStreamCommand.RightsChanged.INSTANCE,
            () -> feed(() -> core.rightsChanged(current())))
        .onMessageEquals(ProgressTick.INSTANCE, () -> feed(core::progressTick))
        .onMessageEquals(Retry.INSTANCE, () -> feed(core::retry))
        .onMessageEquals(WatchStreamCommand.Close.INSTANCE, Behaviors::stopped)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private long current() {
    return reader.view().revision();
  }

  private Behavior<WatchStreamCommand> feed(Runnable input) {
    input.run();
    count(core.watcherCount(), core.pendingEvents());
    return this;
  }

  private void count(int watchers, int pending) {
    if (pending != countedPending) {
      settings.metrics().pending(pending - countedPending);
      countedPending = pending;
    }
    if (watchers != countedWatchers) {
      settings.metrics().watchers(watchers - countedWatchers);
      countedWatchers = watchers;
    }
  }

  private Behavior<WatchStreamCommand> onNext(WatchStreamCommand.Next next) {
    taker = next.replies();
    return feed(core::next);
  }

  private Behavior<WatchStreamCommand> onDeliver(HubMessage.Deliver deliver) {
    core.deliver(deliver.revision(), deliver.deliveries());
    // From here on the events count in the queue of the core.
    unhandled.releaseFirst();
    count(core.watcherCount(), core.pendingEvents());
    return this;
  }

  private Behavior<WatchStreamCommand> onHistoryRead(HistoryRead read) {
    if (read.failure() != null) {
      throw new IllegalStateException("history cannot be read", read.failure());
    }
    Found found = read.found();
    if (found != null && found.result() instanceof HistoryResult.Compacted compacted) {
      return feed(() -> core.historyCompacted(read.serial(), compacted.compactedRevision()));
    }
    if (found != null && found.result() instanceof HistoryResult.Events events) {
      return feed(
          () -> {
            if (found.large()) {
              core.historyLarge(read.serial(), events.nextRevision(), events.storeRevision());
            } else {
              core.historyRead(
                  read.serial(), events.events(), events.nextRevision(), events.storeRevision());
            }
          });
    }
    throw new IllegalStateException("a read of history has no result");
  }

  private Behavior<WatchStreamCommand> onStop() {
    count(0, 0);
    unhandled.releaseAll();
    memory.close();
    if (taker != null) {
      taker.completeExceptionally(new RefusedException(Refusal.STOPPED));
    }
    return this;
  }

  private HubMessage.Watcher watcher(long serial) {
    return new HubMessage.Watcher(getContext().getSelf(), serial);
  }

  @Override
  public void join(long serial, KeyRange range, long nextRevision) {
    hub.tell(new HubMessage.Join(watcher(serial), range, nextRevision));
  }

  @Override
  public void leave(long serial) {
    hub.tell(new HubMessage.Leave(watcher(serial)));
  }

  @Override
  public void askRevision(@Nullable ReplyTo<Done> client) {
    hub.tell(new HubMessage.AskRevision(getContext().getSelf(), client));
  }

  @Override
  public void askHandled(ReplyTo<Done> client) {
    hub.tell(new HubMessage.AskHandled(getContext().getSelf(), client));
  }

  @Override
  public void readHistory(long serial, WatchRequest request, long from, HistoryReadSize size) {
    getContext()
        .pipeToSelf(
            CompletableFuture.supplyAsync(() -> read(request, from, size), settings.history()),
            (found, failure) -> new HistoryRead(serial, found, failure));
  }

  private Found read(WatchRequest request, long from, HistoryReadSize size) {
    MvccReader.HistoryLimits limits =
        new MvccReader.HistoryLimits(size.revisions(), size.stopBytes(), size.stopBytes());
    HistoryResult result = reader.history(request.range(), from, 0, limits, request.prevKv());
    if (result instanceof HistoryResult.Events events
        && (events.nextSub() > 0 || !size.holds(events.events(), request.prevKv()))) {
      // The events are read again: by a larger read, or in pieces.
      return new Found(
          new HistoryResult.Events(
              List.of(), events.nextRevision(), events.nextSub(), events.storeRevision()),
          true);
    }
    return new Found(result, false);
  }

  @Override
  public void created(long watchId, long revision) {
    replies.add(new WatchReply.Created(watchId, revision));
  }

  @Override
  public void createFailed(long revision, String reason) {
    replies.add(new WatchReply.CreateFailed(revision, reason));
  }

  @Override
  public void canceled(long watchId, long revision, long compactRevision, String reason) {
    replies.add(new WatchReply.Canceled(watchId, revision, compactRevision, reason));
  }

  @Override
  public void streamProgress(long revision) {
    replies.add(new WatchReply.Progress(WatchReply.NO_WATCHER, revision));
  }

  @Override
  public void progress(long watchId, long revision) {
    replies.add(new WatchReply.Progress(watchId, revision));
  }

  @Override
  public void events(
      long watchId, long headerRevision, SharedEvents events, boolean prevKv, boolean fragment) {
    replies.add(new WatchReply.Events(watchId, headerRevision, events, prevKv, fragment));
  }

  @Override
  public void largeRevision(
      long watchId, WatchRequest request, long headerRevision, long revision) {
    replies.add(
        new WatchReply.LargeRevision(
            watchId,
            headerRevision,
            request.prevKv(),
            request.fragment(),
            new RevisionPieces(reader, request, revision, settings.history(), memory)));
  }

  @Override
  public void flush() {
    CompletableFuture<List<WatchReply>> next = taker;
    if (next == null) {
      throw new IllegalStateException("replies are sent to a client that cannot take them");
    }
    List<WatchReply> out = replies;
    taker = null;
    replies = new ArrayList<>();
    next.complete(out);
  }

  @Override
  public void retryLater() {
    if (!timers.isTimerActive(Retry.INSTANCE)) {
      timers.startSingleTimer(Retry.INSTANCE, RETRY);
    }
  }

  @Override
  public void accepted(ReplyTo<Done> client) {
    client.tell(Done.getInstance());
  }
}
