package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.id;
import static io.troupe.raft.RaftFixture.proposals;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.RecordingEffects.Persist;
import io.troupe.raft.RecordingEffects.Reject;
import io.troupe.raft.RecordingEffects.Send;
import io.troupe.raft.RecordingEffects.TransferRefused;
import io.troupe.raft.ReplicationStatus.PeerState;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Leadership transfer and disk stalls: Raft dissertation 3.10. */
class RaftTransferTest {
  private static final PeerMessage NOW = new PeerMessage.TimeoutNow(1);

  @Test
  void onlyLeaderTransfersLeadershipAndOnlyToVoter_MT10() {
    RaftFixture follower = RaftFixture.fresh(3);
    follower.effects.take();
    follower.core.transferLeadership(TWO);
    assertThat(follower.effects.take())
        .containsExactly(new TransferRefused(TWO, Refusal.NOT_LEADER));
    RaftFixture leader =
        new RaftFixture(
            RaftState.fresh(ONE, new Membership(Set.of(ONE, TWO), Set.of(THREE))), SETTINGS);
    leader.leadAndCommit();
    leader.core.transferLeadership(THREE);
    leader.core.transferLeadership(new NodeId(9));
    leader.core.transferLeadership(ONE);
    assertThat(leader.effects.take())
        .containsExactly(
            new TransferRefused(THREE, Refusal.BAD_LEADER_TRANSFEREE),
            new TransferRefused(new NodeId(9), Refusal.BAD_LEADER_TRANSFEREE));
  }

  @Test
  void targetCatchesUpFirst_3_10() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a"));
    one.effects.take();
    one.core.transferLeadership(TWO);
    assertThat(one.sentTo(TWO)).doesNotContain(NOW);
    one.ack(TWO, 2);
    assertThat(one.sentTo(TWO)).contains(NOW);
  }

  @Test
  void caughtUpTargetGetsTimeoutNowImmediatelyAndAgainIfLost_3_10() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.transferLeadership(TWO);
    assertThat(one.effects.take()).containsExactly(new Send(TWO, NOW));
    one.ticks(SETTINGS.heartbeatTicks());
    assertThat(one.sentTo(TWO)).contains(NOW);
  }

  @Test
  void proposalsAreRefusedDuringTransferUntilElectionTimeout_3_10() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.transferLeadership(TWO);
    one.effects.take();
    one.core.propose(proposals("a"));
    one.core.receive(THREE, new PeerMessage.ForwardedProposals(1, 7, 1, proposals("b")));
    assertThat(one.effects.take())
        .containsExactly(
            new Reject(id("a"), Refusal.LEADER_CHANGED),
            new Send(
                THREE,
                new PeerMessage.ProposalsRejected(1, List.of(id("b")), Refusal.LEADER_CHANGED)));
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, 0));
    one.ticks(SETTINGS.electionTicks() - 1);
    assertThat(one.effects.take(TransferRefused.class)).isEmpty();
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, 0));
    one.ticks(1);
    assertThat(one.effects.take(TransferRefused.class))
        .containsExactly(new TransferRefused(TWO, Refusal.TIMED_OUT));
    one.core.propose(proposals("c"));
    assertThat(one.effects.take(Reject.class)).isEmpty();
  }

  @Test
  void newerTransferReplacesEarlierOne() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.transferLeadership(TWO);
    one.core.transferLeadership(TWO);
    one.effects.take();
    one.core.transferLeadership(THREE);
    assertThat(one.effects.take(TransferRefused.class))
        .containsExactly(new TransferRefused(TWO, Refusal.TIMED_OUT));
  }

  @Test
  void targetCampaignsImmediatelyWithoutPreVote_3_10() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.TimeoutNow(4));
    PeerMessage request = new PeerMessage.RequestVote(5, false, 1, 1, true);
    assertThat(one.effects.take(Persist.class).get(0).messagesAfterPersist())
        .containsExactly(new Outgoing(TWO, request), new Outgoing(THREE, request));
    assertThat(one.core.status().role()).isEqualTo(RaftRole.CANDIDATE);
  }

  @Test
  void requestOfOlderTermIsIgnored() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.TimeoutNow(3));
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    assertThat(one.core.status().term()).isEqualTo(4);
  }

  @Test
  void learnerDoesNotCampaignOnRequest_M12() {
    RaftFixture learner =
        new RaftFixture(
            RaftState.fresh(THREE, new Membership(Set.of(ONE, TWO), Set.of(THREE))), SETTINGS);
    learner.core.receive(ONE, new PeerMessage.TimeoutNow(1));
    assertThat(learner.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
  }

  @Test
  void votersAcceptTransferElectionDespiteWorkingLeader_4_2_3() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.Heartbeat(4, 0, 0));
    one.effects.take();
    one.core.receive(THREE, new PeerMessage.RequestVote(5, false, 1, 1, true));
    assertThat(one.effects.take(Persist.class).get(0).messagesAfterPersist())
        .containsExactly(new Outgoing(THREE, new PeerMessage.VoteReply(5, false, true)));
  }

  @Test
  void transfersToVoterWithLongestLogBeforeCleanStop() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.ack(THREE, 1);
    one.core.propose(proposals("a"));
    one.ack(THREE, 2);
    one.effects.take();
    one.core.handOver();
    assertThat(one.sentTo(THREE)).contains(NOW);
  }

  @Test
  void stopWithoutSuccessorDoesNothing() {
    RaftFixture one = RaftFixture.fresh(1);
    one.durable();
    one.durable();
    one.effects.take();
    one.core.handOver();
    assertThat(one.effects.take()).isEmpty();
    assertThat(one.core.status().role()).isEqualTo(RaftRole.LEADER);
  }

  @Test
  void leaderWithStalledDiskTransfersLeadershipAndDoesNotCampaign() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a"));
    for (int i = 0; i < SETTINGS.diskStallTicks(); i++) {
      assertThat(one.core.status().role()).isEqualTo(RaftRole.LEADER);
      one.effects.take();
      one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, 0));
      one.ticks(1);
    }
    assertThat(one.sentTo(TWO)).endsWith(NOW);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    one.ticks(100);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    one.core.receive(TWO, new PeerMessage.TimeoutNow(2));
    assertThat(one.core.status().role()).as("not even if asked").isEqualTo(RaftRole.FOLLOWER);
    one.durable();
    one.ticks(2 * SETTINGS.electionTicks());
    assertThat(one.core.status().role()).isEqualTo(RaftRole.PRE_CANDIDATE);
  }

  @Test
  void onlyLeaderKnowsConnectionsAndMatchIndexes() {
    assertThat(RaftFixture.fresh(3).core.replication()).isNull();
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    ReplicationStatus status = Objects.requireNonNull(one.core.replication());
    assertThat(status.peers())
        .isEqualTo(
            Map.of(
                TWO,
                new ReplicationStatus.Peer(1, 1, PeerState.REPLICATE),
                THREE,
                new ReplicationStatus.Peer(0, 0, PeerState.PROBE)));
    assertThat(status.liveness(1).steady()).isEqualTo(Set.of(ONE, TWO));
    assertThat(status.liveness(5).steady()).isEqualTo(Set.of(ONE));
    assertThat(status.liveness(5).connected()).isEqualTo(Set.of(ONE, TWO));
  }
}
