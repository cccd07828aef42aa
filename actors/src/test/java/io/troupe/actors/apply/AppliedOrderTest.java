package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.mvcc.InMemoryOrderedStore;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.AuthListener;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WatchCommand;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.watch.EventBacklog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.DispatcherSelector;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The raft actor confirms leadership to the lease actor as soon as the index is applied. By then
 * the lease actor must have the changes up to that index.
 */
class AppliedOrderTest {
  private static final NodeId ONE = new NodeId(1);
  private static final DispatcherSelector SENDERS_THREAD =
      DispatcherSelector.fromConfig("pekko.test.calling-thread-dispatcher");

  private final ActorTestKit kit = ActorTestKit.create();
  private final LinkedBlockingQueue<Object> received = new LinkedBlockingQueue<>();
  private final ActorRef<ApplyCommand> actor =
      kit.spawn(
          ApplyActor.create(
              new StateMachine(new InMemoryOrderedStore(), 0),
              new ApplyActor.Settings(1000, Duration.ofHours(1), Duration.ofHours(1)),
              new ApplyActor.Links(
                  this.<RaftCommand>recorder(),
                  new CommitPublisher(
                      this.<WatchCommand>recorder(),
                      new EventBacklog(1 << 20),
                      new MemberMetrics().watch()),
                  this.<LeaseCommand>recorder(),
                  kit.<SnapshotCommand>createTestProbe().getRef(),
                  revision -> {},
                  index -> {},
                  AuthListener.NONE,
                  new ApplyActor.Divergence(
                      ONE, new RequestIds(ONE, 0), digest -> {}, corrupt -> {}),
                  ForwardedTraces.NONE,
                  new MemberMetrics().apply())));

  /** Runs on the sender's thread, so that the order is that of sending. */
  private <T> ActorRef<T> recorder() {
    return kit.spawn(
        Behaviors.<T>receiveMessage(
            message -> {
              received.add(message);
              return Behaviors.same();
            }),
        SENDERS_THREAD);
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  @Test
  void leaseChangesAreSentBeforeIndexIsReportedAsApplied() throws InterruptedException {
    actor.tell(new ApplyCommand.Apply(List.of(grant(1)), 0));
    assertThat(received.poll(10, TimeUnit.SECONDS)).isInstanceOf(LeaseCommand.Changed.class);
    assertThat(received.poll(10, TimeUnit.SECONDS)).isEqualTo(new RaftCommand.Applied(1));
  }

  /** A connection that awaits several of the replies handles them together. */
  @Test
  void batchOfRepliesEndsAfterTheLastOne() throws InterruptedException {
    LinkedBlockingQueue<String> order = new LinkedBlockingQueue<>();
    Runnable end = () -> order.add("end");
    ActorRef<ProposeReply> caller =
        kit.spawn(
            Behaviors.receiveMessage(
                reply -> {
                  order.add("reply");
                  ((ProposeReply.Applied) reply).batch().whenSent(end);
                  return Behaviors.same();
                }),
            SENDERS_THREAD);
    actor.tell(
        new ApplyCommand.Expect(
            List.of(
                new ApplyCommand.Expectation(new RequestId(1), caller::tell),
                new ApplyCommand.Expectation(new RequestId(2), caller::tell)),
            1,
            0));
    actor.tell(new ApplyCommand.Apply(List.of(grant(1), grant(2)), 0));
    assertThat(order.poll(10, TimeUnit.SECONDS)).isEqualTo("reply");
    assertThat(order.poll(10, TimeUnit.SECONDS)).isEqualTo("reply");
    assertThat(order.poll(10, TimeUnit.SECONDS)).isEqualTo("end");
  }

  private static Entry grant(long index) {
    Operation grant = new Operation.LeaseGrant(7 + index, 60);
    return new Entry(
        1, index, Entry.Kind.OPERATION, OperationCodec.encode(new RequestId(index), grant));
  }
}
