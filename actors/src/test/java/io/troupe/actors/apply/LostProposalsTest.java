package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
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
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Proposals whose leader was replaced before they were committed. */
class LostProposalsTest {
  private static final NodeId ONE = new NodeId(1);

  private final ActorTestKit kit = ActorTestKit.create();
  private final StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final TestProbe<ProposeReply> client = kit.createTestProbe();
  private final TestProbe<RaftCommand> raft = kit.createTestProbe();
  private final ActorRef<ApplyCommand> actor =
      kit.spawn(
          ApplyActor.create(
              machine,
              new ApplyActor.Settings(1000, Duration.ofHours(1), Duration.ofHours(1)),
              new ApplyActor.Links(
                  raft.getRef(),
                  new CommitPublisher(
                      kit.<WatchCommand>createTestProbe().getRef(),
                      new EventBacklog(1 << 20),
                      new MemberMetrics().watch()),
                  kit.<LeaseCommand>createTestProbe().getRef(),
                  kit.<SnapshotCommand>createTestProbe().getRef(),
                  revision -> {},
                  index -> {},
                  AuthListener.NONE,
                  new ApplyActor.Divergence(
                      ONE, new RequestIds(ONE, 0), digest -> {}, corrupt -> {}),
                  ForwardedTraces.NONE,
                  new MemberMetrics().apply())));
  private long index;

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private void expect(long id, long term) {
    actor.tell(
        new ApplyCommand.Expect(
            List.of(new ApplyCommand.Expectation(new RequestId(id), client.getRef()::tell)),
            term,
            0));
  }

  private Entry noop(long term) {
    return new Entry(term, ++index, Entry.Kind.NOOP, Bytes.EMPTY);
  }

  private Entry put(long id, long term) {
    Operation publish = new Operation.PublishMember(ONE, "n", List.of());
    return new Entry(
        term, ++index, Entry.Kind.OPERATION, OperationCodec.encode(new RequestId(id), publish));
  }

  private void apply(Entry... entries) {
    actor.tell(new ApplyCommand.Apply(List.of(entries), 0));
  }

  @Test
  void proposalOfEarlierTermIsRefusedWithFirstEntryOfLaterTerm() {
    apply(noop(1));
    expect(1, 1);
    expect(2, 1);
    expect(3, 2);
    // The first one was committed by the next leader.
    apply(put(1, 1), noop(2));
    assertThat(client.receiveMessage()).isInstanceOf(ProposeReply.Applied.class);
    client.expectMessage(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    client.expectNoMessage(Duration.ZERO);
    apply(put(3, 2));
    assertThat(client.receiveMessage()).isInstanceOf(ProposeReply.Applied.class);
  }

  /** No caller waits for the request timeout when a snapshot replaced the state. */
  @Test
  void pendingProposalsHaveUnknownResultWhenStateIsReplaced() {
    expect(1, 1);
    // A stop overtakes messages in the mailbox: this one shows that those before it are handled.
    expect(2, 1);
    apply(noop(1), put(2, 1));
    assertThat(client.receiveMessage()).isInstanceOf(ProposeReply.Applied.class);
    kit.stop(actor);
    client.expectMessage(ProposeReply.Unknown.INSTANCE);
  }

  @Test
  void entriesOfSameTermRefuseNothing() {
    apply(noop(1));
    expect(1, 1);
    apply(put(9, 1), put(8, 1));
    client.expectNoMessage(Duration.ofMillis(100));
    apply(put(1, 1));
    assertThat(client.receiveMessage()).isInstanceOf(ProposeReply.Applied.class);
  }
}
