package io.troupe.actors.watch;

import io.troupe.actors.watch.HubMessage.Watcher;
import io.troupe.metrics.WatchMetrics;
import io.troupe.mvcc.MvccReader;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.DeliveredLots;
import io.troupe.watch.Delivery;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.MissedRevisions;
import io.troupe.watch.WatchHubCore;
import io.troupe.watch.WatchHubEffects;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;
import org.jspecify.annotations.Nullable;

/**
 * Runs {@link WatchHubCore}: turns messages into inputs and effects into messages, and decides
 * nothing. Owns the actors of the streams, and counts the memory of the deliveries that they have
 * not handled.
 */
public final class WatchHubActor extends AbstractBehavior<WatchCommand>
    implements WatchHubEffects<ActorRef<WatchStreamCommand>> {
  private final MvccReader reader;
  private final WatchStreamActor.Settings settings;
  private final WatchHubCore<ActorRef<WatchStreamCommand>> core;

  /** Memory of the deliveries that each stream has not handled. */
  private final Map<ActorRef<WatchStreamCommand>, DeliveredLots> unhandled = new HashMap<>();

  private final WatchMetrics metrics;

  /** Memory of the commits that are being handled. */
  private EventBacklog.@Nullable Lot memory;

  private long streams;
  private int countedSynced;

  private WatchHubActor(
      ActorContext<WatchCommand> context, MvccReader reader, WatchStreamActor.Settings settings) {
    super(context);
    this.reader = reader;
    this.settings = settings;
    this.metrics = settings.metrics();
    this.core = new WatchHubCore<>(reader.view().revision(), this);
    metrics.published(core.revision());
  }

  /** The behavior of the actor; must be spawned before anything is applied. */
  public static Behavior<WatchCommand> create(
      MvccReader reader, WatchStreamActor.Settings settings) {
    return Behaviors.setup(context -> new WatchHubActor(context, reader, settings));
  }

  @Override
  public Receive<WatchCommand> createReceive() {
    return newReceiveBuilder()
        .onMessage(WatchCommand.Committed.class, this::onCommitted)
        .onMessage(WatchCommand.Missed.class, this::onMissed)
        .onMessageEquals(WatchCommand.RightsChanged.INSTANCE, this::onRightsChanged)
        .onMessage(WatchCommand.OpenStream.class, this::onOpenStream)
        .onMessage(HubMessage.Join.class, this::onJoin)
        .onMessage(HubMessage.Leave.class, this::onLeave)
        .onMessage(HubMessage.AskRevision.class, this::onAskRevision)
        .onMessage(HubMessage.AskHandled.class, this::onAskHandled)
        .onMessage(HubMessage.StreamStopped.class, this::onStreamStopped)
        .onSignal(PostStop.class, signal -> onStop())
        .build();
  }

  private Behavior<WatchCommand> onOpenStream(WatchCommand.OpenStream open) {
    DeliveredLots lots = new DeliveredLots();
    ActorRef<WatchStreamCommand> stream =
        getContext()
            .spawn(
                WatchStreamActor.create(
                    getContext().getSelf(), reader, settings, open.memory().sibling(), lots),
                "stream-" + ++streams);
    getContext().watchWith(stream, new HubMessage.StreamStopped(stream));
    unhandled.put(stream, lots);
    core.opened(stream);
    metrics.streams(1);
    open.replyTo().tell(stream);
    return this;
  }

  private Behavior<WatchCommand> onRightsChanged() {
    unhandled.keySet().forEach(stream -> stream.tell(WatchStreamCommand.RightsChanged.INSTANCE));
    return this;
  }

  private Behavior<WatchCommand> onStreamStopped(HubMessage.StreamStopped stopped) {
    DeliveredLots left = unhandled.remove(stopped.stream());
    if (left != null) {
      left.releaseAll();
      core.stopped(stopped.stream());
      metrics.streams(-1);
    }
    return count();
  }

  private Behavior<WatchCommand> onJoin(HubMessage.Join join) {
    Watcher watcher = join.watcher();
    core.join(watcher.stream(), watcher.serial(), join.range(), join.nextRevision());
    return count();
  }

  private Behavior<WatchCommand> onLeave(HubMessage.Leave leave) {
    core.leave(leave.watcher().stream(), leave.watcher().serial());
    return count();
  }

  private Behavior<WatchCommand> count() {
    int now = core.syncedCount();
    if (now != countedSynced) {
      metrics.synced(now - countedSynced);
      countedSynced = now;
    }
    return this;
  }

  /** Resets the gauges: the next opening begins without streams. */
  private Behavior<WatchCommand> onStop() {
    metrics.streams(-unhandled.size());
    metrics.synced(-countedSynced);
    return this;
  }

  private Behavior<WatchCommand> onAskRevision(HubMessage.AskRevision ask) {
    ask.stream().tell(new HubMessage.Revision(core.revision(), ask.client()));
    return this;
  }

  private Behavior<WatchCommand> onAskHandled(HubMessage.AskHandled ask) {
    ask.stream().tell(new HubMessage.Handled(ask.client()));
    return this;
  }

  private Behavior<WatchCommand> onCommitted(WatchCommand.Committed committed) {
    memory = committed.memory();
    core.committed(committed.revisions());
    memory = null;
    committed.memory().release();
    metrics.published(core.revision());
    return count();
  }

  /** The backlog was full. All earlier deliveries precede this message. */
  private Behavior<WatchCommand> onMissed(WatchCommand.Missed missed) {
    MissedRevisions.Span span = missed.revisions().take();
    core.missed(span.first(), span.last(), span.keys());
    metrics.published(core.revision());
    return count();
  }

  @Override
  public void deliver(
      ActorRef<WatchStreamCommand> stream, long revision, List<Delivery> deliveries) {
    DeliveredLots lots = unhandled.get(stream);
    EventBacklog.Lot lot = memory;
    if (lots != null && lot != null) {
      metrics.events(deliveries.stream().mapToInt(delivery -> delivery.events().size()).sum());
      lots.add(lot, deliveries);
      stream.tell(new HubMessage.Deliver(revision, deliveries));
    }
  }

  @Override
  public void joined(ActorRef<WatchStreamCommand> stream, long serial) {
    stream.tell(new HubMessage.Joined(serial));
  }

  @Override
  public void lagging(ActorRef<WatchStreamCommand> stream, long serial) {
    stream.tell(new HubMessage.Lagging(serial));
  }

  @Override
  public void readFromHistory(
      ActorRef<WatchStreamCommand> stream, List<Long> serials, long revision) {
    stream.tell(new HubMessage.ReadFromHistory(serials, revision));
  }
}
