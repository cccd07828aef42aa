package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.model.TraceContext;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Traced proposals of other members that the raft actor passes to the apply actor. */
class ForwardedTracesTest {
  private static final NodeId SELF = new NodeId(1);
  private static final NodeId OTHER = new NodeId(2);
  private static final Proposal UNTRACED = new Proposal(new RequestId(1), Bytes.utf8("a"));
  private static final Proposal TRACED =
      new Proposal(new RequestId(2), Bytes.utf8("b"), false, new TraceContext(1, 2, 3, 1));

  /** Traces are wanted; this test reports none. */
  private static final ForwardedTraces WANTED =
      proposal -> {
        throw new AssertionError("the apply actor tells that");
      };

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<WalCommand> wal = kit.createTestProbe();
  private final TestProbe<ApplyCommand> apply = kit.createTestProbe();

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  /** Starts an actor that leads in term 6 and has reported it to the apply actor. */
  private ActorRef<RaftCommand> leader(ForwardedTraces traces) {
    RaftState recovered =
        new RaftState(
            SELF,
            new HardState(5, NodeId.NONE, 0),
            Membership.ofVoters(SELF, OTHER, new NodeId(3)),
            0,
            0,
            List.of(),
            0);
    ActorRef<RaftCommand> actor =
        kit.spawn(
            RaftRoleActor.create(
                recovered, RaftSettings.defaults(), Duration.ofHours(1), new SplittableRandom(1)));
    actor.tell(
        new RaftRoleActor.Begin(
            new RaftRoleActor.Links(
                wal.getRef(),
                apply.getRef(),
                kit.<SnapshotCommand>createTestProbe().getRef(),
                (to, message) -> {},
                status -> {},
                membership -> {},
                () -> {},
                traces,
                new MemberMetrics().raft())));
    actor.tell(new RaftCommand.FromPeer(OTHER, new PeerMessage.Heartbeat(5, 0, 0)));
    actor.tell(new RaftCommand.FromPeer(OTHER, new PeerMessage.TimeoutNow(5)));
    actor.tell(new RaftCommand.Durable(wal.expectMessageClass(WalCommand.Append.class).number()));
    actor.tell(new RaftCommand.FromPeer(OTHER, new PeerMessage.VoteReply(6, false, true)));
    apply.expectMessage(new ApplyCommand.Leading(true, 6));
    return actor;
  }

  private static void forward(ActorRef<RaftCommand> actor, long term, int number, Proposal... all) {
    actor.tell(
        new RaftCommand.FromPeer(
            OTHER, new PeerMessage.ForwardedProposals(term, 77, number, List.of(all))));
  }

  /** Sends the replies of the log and of a follower for the newest entry. */
  private void commit(ActorRef<RaftCommand> actor, long index) {
    long number =
        wal
            .fishForMessage(
                Duration.ofSeconds(10),
                command ->
                    command instanceof WalCommand.Append append
                            && append.entries().stream().anyMatch(entry -> entry.index() == index)
                        ? FishingOutcomes.complete()
                        : FishingOutcomes.continueAndIgnore())
            .stream()
            .map(command -> ((WalCommand.Append) command).number())
            .reduce(0L, Math::max);
    actor.tell(new RaftCommand.Durable(number));
    actor.tell(new RaftCommand.FromPeer(OTHER, new PeerMessage.AppendReply(6, false, index, 0, 0)));
  }

  @Test
  void applyActorReceivesTraceBeforeEntriesOfMessage() {
    ActorRef<RaftCommand> actor = leader(WANTED);
    long before = System.nanoTime();
    forward(actor, 6, 1, UNTRACED, TRACED);
    commit(actor, 3);
    ApplyCommand.Trace trace = apply.expectMessageClass(ApplyCommand.Trace.class);
    assertThat(trace.proposals()).containsExactly(UNTRACED, TRACED);
    assertThat(trace.nanos()).isBetween(before, System.nanoTime());
    assertThat(apply.expectMessageClass(ApplyCommand.Apply.class).committed()).hasSize(3);
  }

  @Test
  void untracedOrStaleMessageSendsNoTrace() {
    ActorRef<RaftCommand> actor = leader(WANTED);
    forward(actor, 5, 1, TRACED);
    forward(actor, 6, 2, UNTRACED);
    commit(actor, 2);
    assertThat(apply.expectMessageClass(ApplyCommand.Apply.class).committed()).hasSize(2);
  }

  @Test
  void memberWithoutTracingIgnoresTraces() {
    ActorRef<RaftCommand> actor = leader(ForwardedTraces.NONE);
    forward(actor, 6, 1, TRACED);
    commit(actor, 2);
    assertThat(apply.expectMessageClass(ApplyCommand.Apply.class).committed()).hasSize(2);
  }
}
