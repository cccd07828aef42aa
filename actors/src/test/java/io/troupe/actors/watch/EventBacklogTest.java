package io.troupe.actors.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.apply.CommitPublisher;
import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.WatchReply;
import io.troupe.protocol.WatchRight;
import io.troupe.protocol.WatchStreamCommand;
import io.troupe.watch.EventBacklog;
import io.troupe.watch.EventFilter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.apache.pekko.Done;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A stopped hub or stream holds a bounded amount of events, and no event is lost. */
class EventBacklogTest {
  private static final int VALUE_BYTES = 100_000;
  private static final int PUTS = 100;
  private static final long LIMIT = 10 * VALUE_BYTES;
  private static final KeyRange KEYS = new KeyRange(Bytes.utf8("a"), Bytes.utf8("z"));

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<Done> done = kit.createTestProbe();
  private final TestProbe<ActorRef<WatchStreamCommand>> opened = kit.createTestProbe();

  /** Replaces the hub's mailbox: keeps the messages of the apply actor. */
  private final LinkedBlockingQueue<WatchCommand> mailbox = new LinkedBlockingQueue<>();

  private final StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final EventBacklog backlog = new EventBacklog(LIMIT);
  private final MemberMetrics metrics = new MemberMetrics();
  private final CommitPublisher changes =
      new CommitPublisher(
          kit.spawn(
              Behaviors.<WatchCommand>receiveMessage(
                  message -> {
                    mailbox.add(message);
                    return Behaviors.same();
                  }),
              DispatcherSelector.fromConfig("pekko.test.calling-thread-dispatcher")),
          backlog,
          metrics.watch());
  private volatile Executor history = Runnable::run;
  private final ActorRef<WatchCommand> hub =
      kit.spawn(
          WatchHubActor.create(
              machine.reader(),
              new WatchStreamActor.Settings(
                  100 * LIMIT,
                  1 << 20,
                  Duration.ofHours(1),
                  task -> history.execute(task),
                  metrics.watch())));

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private ActorRef<WatchStreamCommand> watch(long startRevision) {
    hub.tell(new WatchCommand.OpenStream(MemoryBudget.UNLIMITED.share(), opened.getRef()::tell));
    ActorRef<WatchStreamCommand> stream = opened.receiveMessage();
    stream.tell(
        new WatchStreamCommand.Create(
            KEYS,
            0,
            startRevision,
            EventFilter.NONE,
            true,
            false,
            false,
            WatchRight.ALL,
            done.getRef()::tell));
    done.receiveMessage();
    return stream;
  }

  private long put(String key) {
    changes.add(
        machine.apply(
            machine.appliedIndex() + 1,
            1,
            new Operation.Put(
                Bytes.utf8(key), Bytes.wrap(new byte[VALUE_BYTES]), 0, false, false, false)));
    machine.commit();
    changes.publish();
    return machine.currentRevision();
  }

  private int forward() {
    int messages = 0;
    for (WatchCommand next = mailbox.poll(); next != null; next = mailbox.poll()) {
      hub.tell(next);
      messages++;
    }
    return messages;
  }

  private static List<Long> revisions(ActorRef<WatchStreamCommand> stream, int count)
      throws Exception {
    List<Long> all = new ArrayList<>();
    while (all.size() < count) {
      CompletableFuture<List<WatchReply>> replies = new CompletableFuture<>();
      stream.tell(new WatchStreamCommand.Next(replies));
      for (WatchReply reply : replies.get(10, TimeUnit.SECONDS)) {
        if (reply instanceof WatchReply.Events events) {
          events.events().forEach(event -> all.add(event.event().kv().modRevision()));
        }
      }
    }
    return all;
  }

  private void awaitEmptyBacklog() {
    opened.awaitAssert(
        Duration.ofSeconds(10),
        () -> {
          assertThat(backlog.bytes()).isZero();
          return null;
        });
  }

  @Test
  void stoppedHubHoldsBoundedEventsAndItsWatchersReceiveAll() throws Exception {
    ActorRef<WatchStreamCommand> stream = watch(0);
    long first = put("b");
    for (int i = 1; i < PUTS; i++) {
      put("c" + i % 7);
      assertThat(backlog.bytes()).isLessThanOrEqualTo(LIMIT);
    }
    // At most nine values with their previous ones, and one message for all missed revisions.
    assertThat(forward()).isBetween(4, 10);
    long next = put("d");
    forward();
    assertThat(revisions(stream, PUTS + 1))
        .containsExactlyElementsOf(LongStream.rangeClosed(first, next).boxed().toList());
    awaitEmptyBacklog();
    // The watcher is live again.
    long live = put("e");
    assertThat(backlog.bytes()).isGreaterThan(VALUE_BYTES);
    forward();
    assertThat(revisions(stream, 1)).containsExactly(live);
    awaitEmptyBacklog();
  }

  @Test
  void stoppedStreamHoldsBoundedEventsUntilItEnds() throws Exception {
    long old = put("a");
    forward();
    ActorRef<WatchStreamCommand> live = watch(0);
    CountDownLatch blocked = new CountDownLatch(1);
    CountDownLatch resume = new CountDownLatch(1);
    history =
        task -> {
          blocked.countDown();
          try {
            resume.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          task.run();
        };
    // A second watcher of the stream reads history, on the thread of the stream.
    live.tell(
        new WatchStreamCommand.Create(
            KEYS,
            0,
            old,
            EventFilter.NONE,
            true,
            false,
            false,
            WatchRight.ALL,
            done.getRef()::tell));
    blocked.await();
    for (int i = 0; i < PUTS; i++) {
      put("c" + i);
      forward();
      assertThat(backlog.bytes()).isLessThanOrEqualTo(LIMIT + 10_000);
    }
    TestProbe<WatchCommand> order = kit.createTestProbe();
    assertThat(backlog.bytes()).isGreaterThan(LIMIT / 2);
    live.tell(WatchStreamCommand.Close.INSTANCE);
    resume.countDown();
    order.expectTerminated(live, Duration.ofSeconds(10));
    awaitEmptyBacklog();
  }
}
