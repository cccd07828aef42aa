package io.troupe.actors.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.member.ShownMetrics;
import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchRight;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.DeliveredLots;
import io.troupe.watch.Delivery;
import io.troupe.watch.EventFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** One stream; the test is its hub and its client. */
class WatchStreamActorTest {
  private static final long NO_LEASE = 0;
  private static final long BUFFER = 1000;
  private static final Bytes BUSY = Bytes.utf8("busy");
  private static final Bytes QUIET = Bytes.utf8("quiet");

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<WatchCommand> hub = kit.createTestProbe();
  private final TestProbe<Done> done = kit.createTestProbe();
  private final StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final MemberMetrics metrics = new MemberMetrics();
  private final ActorRef<WatchStreamCommand> stream =
      kit.spawn(
          WatchStreamActor.create(
              kit.spawn(AnsweringHub.create(hub.getRef())),
              machine.reader(),
              new WatchStreamActor.Settings(
                  BUFFER, 1 << 20, Duration.ofHours(1), Runnable::run, metrics.watch()),
              MemoryBudget.UNLIMITED.share(),
              new DeliveredLots()));

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private long put(Bytes key, int size) {
    apply(new Operation.Put(key, Bytes.wrap(new byte[size]), NO_LEASE, false, false, false));
    return machine.currentRevision();
  }

  private volatile WatchRight right = WatchRight.ALL;

  private void apply(Operation operation) {
    machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
  }

  private HubMessage.Join create(Bytes key, long startRevision) {
    stream.tell(
        new WatchStreamCommand.Create(
            KeyRange.single(key),
            0,
            startRevision,
            EventFilter.NONE,
            false,
            false,
            false,
            range -> right.refusal(range),
            done.getRef()::tell));
    done.receiveMessage();
    HubMessage.Join join = hub.expectMessageClass(HubMessage.Join.class);
    stream.tell(new HubMessage.Joined(join.watcher().serial()));
    return join;
  }

  /** The delivery of a revision. */
  private Delivery live(HubMessage.Join to, long revision) {
    HistoryResult.Events found =
        (HistoryResult.Events) machine.reader().history(to.range(), revision, 1, 1 << 20, false);
    List<SharedEvent> events = new ArrayList<>();
    for (Event event : found.events()) {
      events.add(new SharedEvent(event));
    }
    return new Delivery(to.watcher().serial(), SharedEvents.ofOne(events));
  }

  private List<WatchReply> next() throws Exception {
    CompletableFuture<List<WatchReply>> replies = new CompletableFuture<>();
    stream.tell(new WatchStreamCommand.Next(replies));
    return replies.get(10, TimeUnit.SECONDS);
  }

  private static List<Long> revisions(List<WatchReply> replies, long watchId) {
    List<Long> found = new ArrayList<>();
    for (WatchReply reply : replies) {
      if (reply instanceof WatchReply.Events events && events.watchId() == watchId) {
        events.events().forEach(event -> found.add(event.event().kv().modRevision()));
      }
    }
    return found;
  }

  private double pending() {
    return ShownMetrics.value(metrics, "etcd_debugging_mvcc_pending_events_total");
  }

  @Test
  void eventsThatClientDoesNotTakeArePending() throws Exception {
    HubMessage.Join busy = create(BUSY, 0);
    next();
    long first = put(BUSY, 1);
    long second = put(BUSY, 1);
    stream.tell(new HubMessage.Deliver(second, List.of(live(busy, first), live(busy, second))));
    // The reply follows the delivery.
    stream.tell(new WatchStreamCommand.Cancel(99, done.getRef()::tell));
    done.receiveMessage();
    assertThat(pending()).isEqualTo(2);
    assertThat(next()).hasSize(2);
    stream.tell(new WatchStreamCommand.Cancel(99, done.getRef()::tell));
    done.receiveMessage();
    assertThat(pending()).isZero();
    long last = put(BUSY, 1);
    stream.tell(new HubMessage.Deliver(last, List.of(live(busy, last))));
    stream.tell(new WatchStreamCommand.Cancel(99, done.getRef()::tell));
    done.receiveMessage();
    assertThat(pending()).isEqualTo(1);
    kit.stop(stream);
    assertThat(pending()).as("no client waits for them").isZero();
  }

  @Test
  void watcherOfSlowStreamAdvancesPastDeliveredRevisions() throws Exception {
    put(QUIET, 1);
    HubMessage.Join busy = create(BUSY, 0);
    HubMessage.Join quiet = create(QUIET, 0);
    assertThat(next()).hasSize(2).allMatch(reply -> reply instanceof WatchReply.Created);

    long large = 0;
    List<Long> sent = new ArrayList<>();
    List<Delivery> deliveries = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      large = put(BUSY, (int) BUFFER);
      sent.add(large);
      deliveries.add(live(busy, large));
    }
    stream.tell(new HubMessage.Deliver(large, deliveries));
    assertThat(hub.expectMessageClass(HubMessage.Leave.class).watcher()).isEqualTo(busy.watcher());
    assertThat(hub.expectMessageClass(HubMessage.Leave.class).watcher()).isEqualTo(quiet.watcher());

    // All of this was delivered, so its removal cancels no watcher.
    apply(new Operation.Compact(large));
    long later = put(QUIET, 1);
    List<WatchReply> replies = new ArrayList<>(next());
    // Each has read the remaining history and joins again after it.
    List<HubMessage.Join> again =
        List.of(
            hub.expectMessageClass(HubMessage.Join.class),
            hub.expectMessageClass(HubMessage.Join.class));
    assertThat(again).extracting(HubMessage.Join::nextRevision).containsOnly(later + 1);
    replies.addAll(next());
    assertThat(replies).noneMatch(reply -> reply instanceof WatchReply.Canceled);
    assertThat(revisions(replies, 0)).isEqualTo(sent);
    assertThat(revisions(replies, 1)).containsExactly(later);
  }

  @Test
  void eventsDeliveredDuringHistoryReadAreNotSentTwice() throws Exception {
    HubMessage.Join busy = create(BUSY, 0);
    next();
    long first = put(BUSY, (int) BUFFER);
    stream.tell(new HubMessage.Deliver(first, List.of(live(busy, first))));
    hub.expectMessageClass(HubMessage.Leave.class);
    long second = put(BUSY, 1);
    // In flight before the hub knew that the watcher left.
    stream.tell(new HubMessage.Deliver(second, List.of(live(busy, second))));
    List<WatchReply> replies = new ArrayList<>(next());
    hub.expectMessageClass(HubMessage.Join.class);
    replies.addAll(next());
    assertThat(revisions(replies, 0)).containsExactly(first, second);
  }

  @Test
  void watcherWithRevokedPermissionIsCanceledAndReceivesNothing() throws Exception {
    HubMessage.Join busy = create(BUSY, 0);
    HubMessage.Join quiet = create(Bytes.utf8("quiet"), 0);
    List<WatchReply> replies = new ArrayList<>();
    while (replies.size() < 2) {
      replies.addAll(next());
    }
    right = range -> range.contains(BUSY) ? "denied" : null;
    stream.tell(WatchStreamCommand.RightsChanged.INSTANCE);
    replies.addAll(next());
    assertThat(replies.get(2)).isInstanceOf(WatchReply.Canceled.class);
    WatchReply.Canceled canceled = (WatchReply.Canceled) replies.get(2);
    assertThat(canceled.watchId()).isZero();
    assertThat(canceled.reason()).isEqualTo("denied");
    assertThat(hub.expectMessageClass(HubMessage.Leave.class).watcher()).isEqualTo(busy.watcher());
    // The other watcher stays, and the events of the canceled one are not sent.
    long revision = put(BUSY, 1);
    Delivery late = live(busy, revision);
    stream.tell(
        new HubMessage.Deliver(
            revision, List.of(late, new Delivery(quiet.watcher().serial(), late.events()))));
    assertThat(next())
        .singleElement()
        .isInstanceOfSatisfying(
            WatchReply.Events.class, events -> assertThat(events.watchId()).isEqualTo(1));
  }

  @Test
  void watcherBelowCompactionIsCanceledWithCompactedRevision_W12() throws Exception {
    put(BUSY, 1);
    long compacted = put(BUSY, 1);
    apply(new Operation.Compact(compacted));
    stream.tell(
        new WatchStreamCommand.Create(
            KeyRange.single(BUSY),
            0,
            1,
            EventFilter.NONE,
            false,
            false,
            false,
            range -> right.refusal(range),
            done.getRef()::tell));
    done.receiveMessage();
    List<WatchReply> replies = new ArrayList<>(next());
    while (replies.size() < 2) {
      replies.addAll(next());
    }
    assertThat(replies.get(1)).isEqualTo(new WatchReply.Canceled(0, 0, compacted, ""));
    hub.expectNoMessage(Duration.ofMillis(50));
  }
}
