package io.troupe.actors.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.SharedEvent;
import io.troupe.model.SharedEvents;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.DeliveredLots;
import io.troupe.watch.Delivery;
import io.troupe.watch.EventFilter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The memory of a stream counts, and is bounded together with all other client memory. */
class WatchMemoryTest {
  private static final int LARGE = 100_000;
  private static final int BUDGET = 10 * LARGE;
  private static final int MOST_CONTROLS = 10_000;
  private static final Bytes KEY = Bytes.utf8("key");

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<WatchCommand> hub = kit.createTestProbe();
  private final TestProbe<Done> done = kit.createTestProbe();
  private final StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final MemoryBudget budget = new MemoryBudget(BUDGET, 0);
  private final MemoryBudget.Share others = budget.holder().share();
  private final MemoryBudget.Holder connection = budget.holder();
  private final MemoryBudget.Share share = connection.share();
  private final ActorRef<WatchStreamCommand> stream =
      kit.spawn(
          WatchStreamActor.create(
              kit.spawn(AnsweringHub.create(hub.getRef())),
              machine.reader(),
              new WatchStreamActor.Settings(
                  100 * BUDGET,
                  1 << 20,
                  Duration.ofHours(1),
                  Runnable::run,
                  new MemberMetrics().watch()),
              share,
              new DeliveredLots()));

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private void tellCreate() {
    tellCreate(false);
  }

  private void tellCreate(boolean progressNotify) {
    stream.tell(
        new WatchStreamCommand.Create(
            KeyRange.single(KEY),
            0,
            0,
            EventFilter.NONE,
            false,
            progressNotify,
            false,
            range -> null,
            done.getRef()::tell));
  }

  private HubMessage.Join create() {
    tellCreate();
    done.receiveMessage();
    HubMessage.Join join = hub.expectMessageClass(HubMessage.Join.class);
    stream.tell(new HubMessage.Joined(join.watcher().serial()));
    return join;
  }

  /** Delivers a change from the hub. */
  private long deliver(HubMessage.Join to) {
    machine.apply(
        machine.appliedIndex() + 1,
        1,
        new Operation.Put(KEY, Bytes.wrap(new byte[LARGE]), 0, false, false, false));
    machine.commit();
    long revision = machine.currentRevision();
    HistoryResult.Events found =
        (HistoryResult.Events) machine.reader().history(to.range(), revision, 1, 1 << 20, false);
    SharedEvents events =
        SharedEvents.ofOne(found.events().stream().map(SharedEvent::new).toList());
    stream.tell(
        new HubMessage.Deliver(revision, List.of(new Delivery(to.watcher().serial(), events))));
    return revision;
  }

  private CompletableFuture<List<WatchReply>> ask() {
    CompletableFuture<List<WatchReply>> replies = new CompletableFuture<>();
    stream.tell(new WatchStreamCommand.Next(replies));
    return replies;
  }

  private List<WatchReply> next() throws Exception {
    return ask().get(10, TimeUnit.SECONDS);
  }

  /** Waits for a reply that follows all earlier messages. */
  private void await() {
    stream.tell(new WatchStreamCommand.Cancel(99, done.getRef()::tell));
    done.receiveMessage();
  }

  /** Another stream must not get the memory before this one has dropped its replies. */
  @Test
  void unsentEventsCountUntilStreamStops() throws Exception {
    HubMessage.Join watcher = create();
    next();
    deliver(watcher);
    await();
    assertThat(budget.taken()).isGreaterThan(LARGE);
    stream.tell(WatchStreamCommand.Close.INSTANCE);
    done.expectTerminated(stream, Duration.ofSeconds(20));
    assertThat(budget.taken()).isZero();
  }

  @Test
  void unsentEventsCountUntilClientTakesMore() throws Exception {
    HubMessage.Join watcher = create();
    next();
    deliver(watcher);
    deliver(watcher);
    await();
    assertThat(budget.taken()).isBetween(2L * LARGE, 2L * LARGE + 20_000);
    assertThat(next()).hasSize(2);
    assertThat(budget.taken()).as("passed on, not sent").isGreaterThan(2 * LARGE);
    CompletableFuture<List<WatchReply>> more = ask();
    await();
    assertThat(more).isNotDone();
    assertThat(budget.taken()).isLessThan(20_000);
  }

  @Test
  void streamReturnsToHistoryWhenMemoryIsShortAndLosesNothing() throws Exception {
    HubMessage.Join watcher = create();
    next();
    others.shrinkTo(BUDGET);
    long first = deliver(watcher);
    assertThat(hub.expectMessageClass(HubMessage.Leave.class).watcher())
        .isEqualTo(watcher.watcher());
    long second = deliver(watcher);
    assertThat(revisions(next())).containsExactly(first);
    others.shrinkTo(0);
    assertThat(revisions(next())).containsExactly(second);
    hub.expectMessageClass(HubMessage.Join.class);
  }

  /** Each stream would hold an encoded copy of its own. */
  @Test
  void eventsWaitWhileConnectionDoesNotSendAndMemoryIsShort() throws Exception {
    HubMessage.Join watcher = create();
    next();
    MemoryBudget.Share otherStream = connection.share();
    otherStream.hand(LARGE);
    others.shrinkTo(BUDGET);
    CompletableFuture<List<WatchReply>> waiting = ask();
    long revision = deliver(watcher);
    await();
    assertThat(waiting).isNotDone();
    otherStream.close();
    assertThat(revisions(waiting.get(10, TimeUnit.SECONDS))).containsExactly(revision);
  }

  private static List<Long> revisions(List<WatchReply> replies) {
    return replies.stream()
        .filter(WatchReply.Events.class::isInstance)
        .flatMap(reply -> ((WatchReply.Events) reply).events().stream())
        .map(event -> event.event().kv().modRevision())
        .toList();
  }

  @Test
  void watcherIsRefusedWhenMemoryIsExhausted() throws Exception {
    HubMessage.Join watcher = create();
    next();
    deliver(watcher);
    others.shrinkTo(BUDGET);
    tellCreate();
    done.receiveMessage();
    assertThat(next())
        .filteredOn(WatchReply.CreateFailed.class::isInstance)
        .hasSize(1)
        .allSatisfy(
            reply -> assertThat(reply.toString()).contains("etcdserver: too many requests"));
  }

  @Test
  void requestsWaitWhileTheirResponsesAreUnread() throws Exception {
    for (int i = 1; i < MOST_CONTROLS; i++) {
      tellCreate();
      done.receiveMessage();
    }
    tellCreate();
    done.expectNoMessage(Duration.ofMillis(200));
    assertThat(next()).hasSize(MOST_CONTROLS);
    done.receiveMessage();
    assertThat(budget.taken()).as("memory of watchers").isGreaterThan(BUDGET - 100_000L);
  }

  @Test
  void nextRequestWaitsUntilHubHasHandledPreviousOne() {
    stream.tell(new WatchStreamCommand.RequestProgress(done.getRef()::tell));
    HubMessage.AskRevision ask = hub.expectMessageClass(HubMessage.AskRevision.class);
    done.expectNoMessage(Duration.ofMillis(200));
    stream.tell(new HubMessage.Revision(1, ask.client()));
    done.receiveMessage();
  }

  /** A watcher may have read revisions from history that the hub has not processed. */
  @Test
  void requestedProgressIsNotBelowSentEvents_W16() throws Exception {
    HubMessage.Join watcher = create();
    next();
    long sent = deliver(watcher);
    assertThat(revisions(next())).containsExactly(sent);
    stream.tell(new HubMessage.Revision(sent - 1, done.getRef()::tell));
    done.receiveMessage();
    stream.tell(new HubMessage.Revision(sent, done.getRef()::tell));
    done.receiveMessage();
    assertThat(next()).extracting(WatchReply::revision).containsExactly(sent);
  }

  @Test
  void unreadProgressNotificationsAreNotQueuedAgain() throws Exception {
    tellCreate(true);
    done.receiveMessage();
    HubMessage.Join join = hub.expectMessageClass(HubMessage.Join.class);
    stream.tell(new HubMessage.Joined(join.watcher().serial()));
    next();
    for (int i = 0; i < 10; i++) {
      stream.tell(new HubMessage.Revision(1, null));
    }
    await();
    assertThat(next()).hasSize(1).allMatch(reply -> reply instanceof WatchReply.Progress);
    stream.tell(new HubMessage.Revision(1, null));
    await();
    assertThat(next()).hasSize(1);
  }
}
