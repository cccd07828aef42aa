package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.Bytes;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.protocol.ApplyCommand;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.protocol.PeerPayload;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReadReply;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import io.troupe.raft.PeerMessage;
import io.troupe.raft.Proposal;
import io.troupe.raft.RaftSettings;
import io.troupe.raft.RaftState;
import io.troupe.raft.SnapshotMark;
import io.troupe.raft.membership.Membership;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Handling of the core's less frequent effects. */
class RaftRoleActorTest {
  private static final NodeId SELF = new NodeId(1);
  private static final NodeId LEADER = new NodeId(2);
  private static final Membership THREE = Membership.ofVoters(SELF, LEADER, new NodeId(3));

  private final ActorTestKit kit = ActorTestKit.create();
  private final TestProbe<WalCommand> wal = kit.createTestProbe();
  private final TestProbe<ApplyCommand> apply = kit.createTestProbe();
  private final TestProbe<SnapshotCommand> snapshot = kit.createTestProbe();
  private final CountDownLatch removed = new CountDownLatch(1);
  private final LinkedBlockingQueue<Membership> memberships = new LinkedBlockingQueue<>();
  private final Queue<PeerMessage> sent = new ConcurrentLinkedQueue<>();
  private final ActorRef<RaftCommand> actor = spawn();

  private ActorRef<RaftCommand> spawn() {
    ActorRef<RaftCommand> made = notBegun();
    begin(made);
    return made;
  }

  private ActorRef<RaftCommand> notBegun() {
    RaftState recovered =
        new RaftState(SELF, new HardState(5, NodeId.NONE, 0), THREE, 0, 0, List.of(), 0);
    return kit.spawn(
        RaftRoleActor.create(
            recovered, RaftSettings.defaults(), Duration.ofHours(1), new SplittableRandom(1)));
  }

  private void begin(ActorRef<RaftCommand> made) {
    made.tell(
        new RaftRoleActor.Begin(
            new RaftRoleActor.Links(
                wal.getRef(),
                apply.getRef(),
                snapshot.getRef(),
                (to, message) -> sent.add(message),
                status -> {},
                memberships::add,
                removed::countDown,
                ForwardedTraces.NONE,
                new MemberMetrics().raft())));
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
  }

  @Test
  void removedMemberStopsAfterOneSecond() throws InterruptedException {
    long sentNanos = System.nanoTime();
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Removed(5)));
    assertThat(removed.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(System.nanoTime() - sentNanos).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(900));
  }

  @Test
  void snapshotIsAcceptedOnlyFromSnapshotActor() throws InterruptedException {
    SnapshotMark mark = new SnapshotMark(100, 4, THREE);
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.InstallSnapshot(5, mark)));
    wal.expectNoMessage(Duration.ofMillis(200));
    actor.tell(new RaftCommand.SnapshotReceived(LEADER, 5, mark));
    WalCommand.Install install = wal.expectMessageClass(WalCommand.Install.class);
    assertThat(install.index()).isEqualTo(100);
    assertThat(install.state().term()).isEqualTo(5);
    assertThat(memberships.poll(10, TimeUnit.SECONDS)).isEqualTo(THREE);
  }

  @Test
  void requestsBeforeBeginAreHandledAfterBegin() {
    ActorRef<RaftCommand> early = notBegun();
    TestProbe<ReadReply> reader = kit.createTestProbe();
    early.tell(new RaftCommand.ReadIndex(reader.getRef()::tell));
    reader.expectNoMessage(Duration.ofMillis(100));
    begin(early);
    reader.expectMessage(new ReadReply.Failed(Refusal.NO_LEADER));
  }

  @Test
  void requestsAboveStashLimitAreRefused() {
    ActorRef<RaftCommand> early = notBegun();
    TestProbe<ReadReply> waiting = kit.createTestProbe();
    TestProbe<ReadReply> refused = kit.createTestProbe();
    for (int i = 0; i < RaftRoleActor.BEFORE_BEGIN; i++) {
      early.tell(new RaftCommand.ReadIndex(waiting.getRef()::tell));
    }
    early.tell(new RaftCommand.ReadIndex(refused.getRef()::tell));
    refused.expectMessage(new ReadReply.Failed(Refusal.NO_LEADER));
    waiting.expectNoMessage(Duration.ofMillis(100));
  }

  /** A proposal that is lost is detected by the term in which it was forwarded. */
  @Test
  void expectationsContainTermOfProposal() {
    TestProbe<ProposeReply> writer = kit.createTestProbe();
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Heartbeat(7, 0, 0)));
    actor.tell(new RaftCommand.Propose(new RequestId(9), Bytes.EMPTY, writer.getRef()::tell));
    assertThat(apply.expectMessageClass(ApplyCommand.Expect.class).term()).isEqualTo(7);
  }

  /**
   * Members of the cluster before a forced new cluster, former leaders and late messages send
   * digests of another history.
   */
  @Test
  void digestsAreIgnoredExceptFromLeaderOfThisTerm() {
    AtomicInteger ignored = new AtomicInteger();
    Runnable handled = ignored::incrementAndGet;
    actor.tell(new RaftCommand.PeerDigest(LEADER, new PeerPayload.StateDigest(5, 3, 1), handled));
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Heartbeat(7, 0, 0)));
    actor.tell(
        new RaftCommand.PeerDigest(new NodeId(3), new PeerPayload.StateDigest(7, 3, 2), handled));
    actor.tell(new RaftCommand.PeerDigest(LEADER, new PeerPayload.StateDigest(6, 3, 3), handled));
    actor.tell(new RaftCommand.PeerDigest(LEADER, new PeerPayload.StateDigest(0, 3, 4), handled));
    PeerPayload.StateDigest good = new PeerPayload.StateDigest(7, 3, 5);
    actor.tell(new RaftCommand.PeerDigest(LEADER, good, handled));
    apply.expectMessage(new ApplyCommand.LeaderDigest(good, handled));
    assertThat(ignored).hasValue(4);
  }

  @Test
  void requestsAreRefusedWhileSnapshotIsInstalled() {
    TestProbe<ReadReply> reader = kit.createTestProbe();
    TestProbe<ProposeReply> writer = kit.createTestProbe();
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Heartbeat(5, 0, 0)));
    actor.tell(new RaftCommand.ReadIndex(reader.getRef()::tell));
    actor.tell(new RaftCommand.SnapshotReceived(LEADER, 5, new SnapshotMark(100, 4, THREE)));
    reader.expectMessage(new ReadReply.Failed(Refusal.NO_LEADER));
    wal.fishForMessage(
        Duration.ofSeconds(3),
        command ->
            command instanceof WalCommand.Install
                ? FishingOutcomes.complete()
                : FishingOutcomes.continueAndIgnore());

    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Append(5, 100, 4, List.of(), 100)));
    actor.tell(new RaftCommand.Propose(new RequestId(9), Bytes.EMPTY, writer.getRef()::tell));
    actor.tell(new RaftCommand.ReadIndex(reader.getRef()::tell));
    writer.expectMessage(new ProposeReply.NotProposed(Refusal.NO_LEADER));
    reader.expectMessage(new ReadReply.Failed(Refusal.NO_LEADER));
    wal.expectNoMessage(Duration.ofMillis(200));
  }

  @Test
  void installingActorStopsAfterEarlierRequestsAreRefused() {
    TestProbe<ReadReply> reader = kit.createTestProbe();
    actor.tell(new RaftCommand.SnapshotReceived(LEADER, 5, new SnapshotMark(100, 4, THREE)));
    actor.tell(new RaftCommand.ReadIndex(reader.getRef()::tell));
    actor.tell(RaftRoleActor.Stop.INSTANCE);
    reader.expectMessage(new ReadReply.Failed(Refusal.NO_LEADER));
    reader.expectTerminated(actor, Duration.ofSeconds(10));
  }

  /** The countdown of an earlier leader must not expire a lease in this term. */
  @Test
  void proposalInTermIsNeverForwarded() {
    TestProbe<ProposeReply> writer = kit.createTestProbe();
    TestProbe<ReadReply> reader = kit.createTestProbe();
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Heartbeat(5, 0, 0)));
    actor.tell(
        new RaftCommand.ProposeInTerm(
            5, new Proposal(new RequestId(9), Bytes.EMPTY), writer.getRef()::tell));
    writer.expectMessage(new ProposeReply.NotProposed(Refusal.NOT_LEADER));
    actor.tell(new RaftCommand.ConfirmLeadership(5, reader.getRef()::tell));
    reader.expectMessage(new ReadReply.Failed(Refusal.NOT_LEADER));
    // A client's proposal is forwarded to the leader.
    actor.tell(new RaftCommand.Propose(new RequestId(10), Bytes.EMPTY, writer.getRef()::tell));
    writer.expectNoMessage(Duration.ofMillis(100));
    assertThat(sent)
        .anyMatch(message -> message instanceof PeerMessage.ForwardedProposals)
        .filteredOn(message -> message instanceof PeerMessage.ForwardedProposals)
        .hasSize(1);
  }

  /** Ticks take an hour here: only the delay of appends can send it. */
  @Test
  void entriesDoNotWaitForSlowFollower() {
    TestProbe<ProposeReply> writer = kit.createTestProbe();
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.Heartbeat(5, 0, 0)));
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.TimeoutNow(5)));
    actor.tell(new RaftCommand.Durable(wal.expectMessageClass(WalCommand.Append.class).number()));
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.VoteReply(6, false, true)));
    actor.tell(new RaftCommand.FromPeer(LEADER, new PeerMessage.AppendReply(6, false, 1, 0, 0)));
    actor.tell(new RaftCommand.Propose(new RequestId(1), Bytes.utf8("a"), writer.getRef()::tell));
    awaitAppendAfter(1);
    actor.tell(new RaftCommand.Propose(new RequestId(2), Bytes.utf8("b"), writer.getRef()::tell));
    awaitAppendAfter(2);
  }

  private void awaitAppendAfter(long prevIndex) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                sent.stream()
                    .anyMatch(
                        message ->
                            message instanceof PeerMessage.Append append
                                && append.prevIndex() == prevIndex
                                && !append.entries().isEmpty()));
  }
}
