package io.troupe.actors.watch;

import io.troupe.actors.watch.HubMessage.Delivery;
import io.troupe.actors.watch.HubMessage.Watcher;
import io.troupe.metrics.WatchMetrics;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.mvcc.MvccReader;
import io.troupe.protocol.EventBacklog;
import io.troupe.protocol.MissedRevisions;
import io.troupe.protocol.SharedEvent;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.WatcherGroups;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.PostStop;
import org.apache.pekko.actor.typed.javadsl.AbstractBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.actor.typed.javadsl.Receive;

/**
 * Receives every committed change once, in revision order, and passes it to the streams whose
 * watchers are in sync. Never waits for a stream: a watcher that cannot keep up leaves, reads
 * history, and joins again.
 */
public final class WatchHubActor extends AbstractBehavior<WatchCommand> {
  /** Approximate memory of a message to a stream, and of each delivery in it, besides events. */
  private static final long DELIVERY_BYTES = 128;

  /**
   * An open stream.
   *
   * @param watchers that receive live events
   * @param unhandled memory of the deliveries that the stream has not handled
   */
  private record Stream(Set<Watcher> watchers, DeliveredLots unhandled) {}

  private final MvccReader reader;
  private final WatchStreamActor.Settings settings;
  private final WatcherGroups<Watcher> synced = new WatcherGroups<>();
  private final Map<ActorRef<WatchStreamCommand>, Stream> byStream = new HashMap<>();
  private final WatchMetrics metrics;
  private long revision;
  private long streams;
  private int inSync;

  private WatchHubActor(
      ActorContext<WatchCommand> context, MvccReader reader, WatchStreamActor.Settings settings) {
    super(context);
    this.reader = reader;
    this.settings = settings;
    this.metrics = settings.metrics();
    this.revision = reader.view().revision();
    metrics.published(revision);
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
    DeliveredLots unhandled = new DeliveredLots();
    ActorRef<WatchStreamCommand> stream =
        getContext()
            .spawn(
                WatchStreamActor.create(
                    getContext().getSelf(), reader, settings, open.memory(), unhandled),
                "stream-" + ++streams);
    getContext().watchWith(stream, new HubMessage.StreamStopped(stream));
    byStream.put(stream, new Stream(new HashSet<>(), unhandled));
    metrics.streams(1);
    open.replyTo().tell(stream);
    return this;
  }

  private Behavior<WatchCommand> onRightsChanged() {
    byStream.keySet().forEach(stream -> stream.tell(WatchStreamCommand.RightsChanged.INSTANCE));
    return this;
  }

  private Behavior<WatchCommand> onStreamStopped(HubMessage.StreamStopped stopped) {
    Stream left = byStream.remove(stopped.stream());
    if (left != null) {
      left.unhandled().releaseAll();
      left.watchers().forEach(this::remove);
      metrics.streams(-1);
    }
    return this;
  }

  private Behavior<WatchCommand> onJoin(HubMessage.Join join) {
    Watcher watcher = join.watcher();
    Stream stream = byStream.get(watcher.stream());
    if (stream == null) {
      return this;
    }
    if (join.nextRevision() <= revision) {
      watcher.stream().tell(new HubMessage.Lagging(watcher.serial()));
      return this;
    }
    synced.add(watcher, join.range(), join.nextRevision(), revision);
    count(1);
    stream.watchers().add(watcher);
    watcher.stream().tell(new HubMessage.Joined(watcher.serial()));
    return this;
  }

  private Behavior<WatchCommand> onLeave(HubMessage.Leave leave) {
    leave(leave.watcher());
    return this;
  }

  private void leave(Watcher watcher) {
    remove(watcher);
    Stream stream = byStream.get(watcher.stream());
    if (stream != null) {
      stream.watchers().remove(watcher);
    }
  }

  private void remove(Watcher watcher) {
    if (synced.remove(watcher)) {
      count(-1);
    }
  }

  private void count(int change) {
    inSync += change;
    metrics.synced(change);
  }

  /** Resets the gauges: the next opening begins without streams. */
  private Behavior<WatchCommand> onStop() {
    metrics.streams(-byStream.size());
    metrics.synced(-inSync);
    return this;
  }

  private Behavior<WatchCommand> onAskRevision(HubMessage.AskRevision ask) {
    ask.stream().tell(new HubMessage.Revision(revision, ask.client()));
    return this;
  }

  private Behavior<WatchCommand> onAskHandled(HubMessage.AskHandled ask) {
    ask.stream().tell(new HubMessage.Handled(ask.client()));
    return this;
  }

  private Behavior<WatchCommand> onCommitted(WatchCommand.Committed committed) {
    Map<ActorRef<WatchStreamCommand>, List<Delivery>> out = new LinkedHashMap<>();
    for (WatchCommand.Commit commit : committed.revisions()) {
      if (commit.revision() > revision) {
        KeyRange unlisted = commit.unlisted();
        if (unlisted != null) {
          deliver(out, committed.memory());
          leaveToHistory(commit.revision(), commit.revision(), unlisted);
        }
        revision = commit.revision();
        match(commit, out);
      }
    }
    deliver(out, committed.memory());
    committed.memory().release();
    metrics.published(revision);
    return this;
  }

  /** The backlog was full. All earlier deliveries precede this message. */
  private Behavior<WatchCommand> onMissed(WatchCommand.Missed missed) {
    MissedRevisions.Span span = missed.revisions().take();
    if (span.last() > revision) {
      leaveToHistory(Math.max(span.first(), revision + 1), span.last(), span.keys());
      revision = span.last();
      metrics.published(revision);
    }
    return this;
  }

  private void deliver(
      Map<ActorRef<WatchStreamCommand>, List<Delivery>> out, EventBacklog.Lot memory) {
    out.forEach(
        (actor, deliveries) -> {
          Stream stream = byStream.get(actor);
          if (stream != null) {
            stream.unhandled().add(memory, DELIVERY_BYTES * (1L + deliveries.size()));
            actor.tell(new HubMessage.Deliver(revision, deliveries));
          }
        });
    out.clear();
  }

  /**
   * The watchers that may have events in these revisions read them from history, as lagging
   * watchers do.
   *
   * @param first revision, inclusive
   * @param last revision, inclusive
   */
  private void leaveToHistory(long first, long last, KeyRange keys) {
    Map<ActorRef<WatchStreamCommand>, List<Long>> byOwner = new LinkedHashMap<>();
    for (Watcher watcher : synced.overlapping(keys, last)) {
      leave(watcher);
      byOwner.computeIfAbsent(watcher.stream(), s -> new ArrayList<>()).add(watcher.serial());
    }
    byOwner.forEach(
        (stream, serials) -> stream.tell(new HubMessage.ReadFromHistory(serials, first)));
  }

  /** A revision is not split: all its events for a watcher are one delivery (W6). */
  private void match(
      WatchCommand.Commit commit, Map<ActorRef<WatchStreamCommand>, List<Delivery>> out) {
    Map<Watcher, List<SharedEvent>> matched = new LinkedHashMap<>();
    for (Event event : commit.events()) {
      SharedEvent shared = new SharedEvent(event);
      synced.forEachMatch(
          event.kv().key(),
          commit.revision(),
          watcher -> matched.computeIfAbsent(watcher, w -> new ArrayList<>(1)).add(shared));
    }
    matched.forEach(
        (watcher, events) -> {
          metrics.events(events.size());
          out.computeIfAbsent(watcher.stream(), stream -> new ArrayList<>())
              .add(new Delivery(watcher.serial(), commit.revision(), events));
        });
  }
}
