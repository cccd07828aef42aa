package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Entry;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
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
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import io.troupe.watch.EventBacklog;
import java.time.Duration;
import java.util.List;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The caller that requests a membership change gets its reply with the right one of its entries.
 */
class ConfChangeAnswersTest {
  private static final NodeId ONE = new NodeId(1);
  private static final NodeId TWO = new NodeId(2);
  private static final RequestId ID = new RequestId(77);

  private static final long PROPOSED = 1_000;

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
  private Membership membership = Membership.EMPTY;
  private long index;

  @BeforeEach
  void beginWithOne() {
    change(null, new ConfChange(ConfChange.Kind.ADD_VOTER, ONE, List.of("http://a")));
    actor.tell(
        new ApplyCommand.Expect(
            List.of(new ApplyCommand.Expectation(ID, client.getRef()::tell)), 1, PROPOSED));
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  private void apply(ConfEntry entry) {
    membership = entry.after();
    index++;
    actor.tell(
        new ApplyCommand.Apply(
            List.of(new Entry(1, index, Entry.Kind.CONF_CHANGE, MembershipCodec.encode(entry))),
            PROPOSED + index));
    raft.expectMessage(new RaftCommand.Applied(index));
  }

  private void change(@Nullable RequestId id, ConfChange change) {
    apply(new ConfEntry(id, List.of(change), membership.after(List.of(change), index + 1)));
  }

  private void follow() {
    apply(ConfEntry.following(membership, index + 1));
  }

  private void expectReply() {
    ProposeReply.Applied reply = (ProposeReply.Applied) client.receiveMessage();
    assertThat(reply.result()).isEqualTo(new Result.Done(1));
    assertThat(reply.index()).isEqualTo(index);
    assertThat(reply.proposedNanos()).isEqualTo(PROPOSED);
    assertThat(reply.committedNanos()).isEqualTo(PROPOSED + index);
    assertThat(machine.view().appliedIndex()).isEqualTo(index);
  }

  @Test
  void additionGetsReplyWithFirstEntry() {
    change(ID, new ConfChange(ConfChange.Kind.ADD_VOTER, TWO, List.of("http://b")));
    assertThat(membership.isJoint()).isTrue();
    expectReply();
    follow();
    client.expectNoMessage(Duration.ZERO);
  }

  @Test
  void voterRemovalGetsReplyWithThirdEntry_M6() {
    change(null, new ConfChange(ConfChange.Kind.ADD_VOTER, TWO, List.of("http://b")));
    follow();
    change(ID, new ConfChange(ConfChange.Kind.REMOVE, TWO));
    client.expectNoMessage(Duration.ZERO);
    follow();
    client.expectNoMessage(Duration.ZERO);
    follow();
    expectReply();
    assertThat(membership.removed()).containsExactly(TWO);
  }

  @Test
  void learnerRemovalGetsReplyWithFirstEntry() {
    change(null, new ConfChange(ConfChange.Kind.ADD_LEARNER, TWO, List.of("http://b")));
    change(ID, new ConfChange(ConfChange.Kind.REMOVE, TWO));
    expectReply();
  }
}
