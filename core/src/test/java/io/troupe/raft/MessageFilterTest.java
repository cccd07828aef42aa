package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.proposals;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.raft.RecordingEffects.Send;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Terms and senders of every kind of message: Raft dissertation 3.3, 4.2.3. */
class MessageFilterTest {
  private static final NodeId UNKNOWN = new NodeId(42);
  private static final SnapshotMark MARK = new SnapshotMark(9, 3, RaftFixture.voters(3));

  private static List<PeerMessage> ofLeader(long term) {
    return List.of(
        new PeerMessage.Append(term, 1, 1, List.of(), 0),
        new PeerMessage.Heartbeat(term, 0, 0),
        new PeerMessage.InstallSnapshot(term, MARK));
  }

  private static List<PeerMessage> toLeader(long term) {
    ConfChange change = new ConfChange(ConfChange.Kind.ADD_VOTER, UNKNOWN);
    return List.of(
        new PeerMessage.AppendReply(term, false, 1, 0, 0),
        new PeerMessage.HeartbeatReply(term, 0),
        new PeerMessage.ReadIndex(term, 5),
        new PeerMessage.ForwardedProposals(term, 1, 1, proposals("x")),
        new PeerMessage.ForwardedConfChange(
            term, 1, 2, new ConfProposal(new RequestId(7), List.of(change), 0)),
        new PeerMessage.VoteReply(term, false, true));
  }

  private static List<PeerMessage> repliesToLeader(long term) {
    return List.of(
        new PeerMessage.ReadIndexReply(term, 5, 1),
        new PeerMessage.ProposalsRejected(term, List.of(new RequestId(7)), Refusal.NO_LEADER));
  }

  @Test
  void leaderOfOlderTermGetsReplyAndIsNotFollowed_3_3() {
    for (PeerMessage message : ofLeader(3)) {
      RaftFixture one = RaftFixture.withLog(4, 1);
      one.core.receive(TWO, message);
      assertThat(one.effects.take())
          .as(message.toString())
          .containsExactly(new Send(TWO, new PeerMessage.AppendReply(4, true, 0, 0, 0)));
      assertThat(one.core.status().leader()).isEqualTo(NodeId.NONE);
    }
  }

  @Test
  void leaderOfHigherTermIsFollowedEvenIfUnknown_4_1() {
    for (PeerMessage message : ofLeader(5)) {
      RaftFixture one = RaftFixture.withLog(4, 1);
      one.core.receive(UNKNOWN, message);
      assertThat(one.core.status().term()).as(message.toString()).isEqualTo(5);
      assertThat(one.core.status().leader()).isEqualTo(UNKNOWN);
    }
  }

  @Test
  void otherMessagesOfOlderTermAreIgnored_3_3() {
    for (PeerMessage message : toLeader(0)) {
      RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
      long last = one.core.status().lastIndex();
      one.core.receive(TWO, message);
      assertThat(one.effects.take()).as(message.toString()).isEmpty();
      assertThat(one.core.status().lastIndex()).isEqualTo(last);
    }
    for (PeerMessage message : repliesToLeader(3)) {
      RaftFixture one = RaftFixture.withLog(4, 1);
      one.core.receive(TWO, message);
      assertThat(one.effects.take()).as(message.toString()).isEmpty();
    }
  }

  @Test
  void higherTermOfMemberEndsLeadership_3_3() {
    for (PeerMessage message : toLeader(7)) {
      RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
      one.core.receive(TWO, message);
      assertThat(one.core.status().term()).as(message.toString()).isEqualTo(7);
      assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
      assertThat(one.core.status().leader()).isEqualTo(NodeId.NONE);
      assertThat(one.core.status().lastIndex()).isEqualTo(1);
    }
  }

  @Test
  void higherTermOfUnknownSenderIsIgnored_4_2_3() {
    for (PeerMessage message : toLeader(7)) {
      RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
      one.core.receive(UNKNOWN, message);
      assertThat(one.effects.take()).as(message.toString()).isEmpty();
      assertThat(one.core.status().role()).isEqualTo(RaftRole.LEADER);
    }
  }

  @Test
  void unknownCandidateGetsVoteButDoesNotDisturbWorkingLeader_4_2_3() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(UNKNOWN, new PeerMessage.RequestVote(5, false, 1, 1));
    assertThat(one.core.status().term()).isEqualTo(5);
    RaftFixture led = RaftFixture.withLog(4, 1);
    led.core.receive(TWO, new PeerMessage.Heartbeat(4, 0, 0));
    led.core.receive(UNKNOWN, new PeerMessage.RequestVote(5, false, 1, 1));
    assertThat(led.core.status().term()).isEqualTo(4);
  }

  @Test
  void removedMemberGetsRemovedAndIsIgnored_4_2_3() {
    Membership membership =
        new Membership(1, Set.of(ONE, TWO), Set.of(), Set.of(), Set.of(), Set.of(THREE));
    for (PeerMessage message :
        List.of(
            new PeerMessage.RequestVote(9, false, 9, 8),
            new PeerMessage.RequestVote(9, true, 9, 8, true),
            new PeerMessage.Heartbeat(9, 0, 0),
            new PeerMessage.ReadIndex(9, 1))) {
      RaftFixture one =
          new RaftFixture(
              new RaftState(
                  ONE, new HardState(4, NodeId.NONE, 1), membership, 0, 0, RaftFixture.log(1), 1),
              SETTINGS);
      one.effects.take();
      one.core.receive(THREE, message);
      assertThat(one.effects.take())
          .as(message.toString())
          .containsExactly(new Send(THREE, new PeerMessage.Removed(4)));
      assertThat(one.core.status().term()).isEqualTo(4);
    }
  }

  @Test
  void removedMemberReportsRemovalOnceAndNeverCampaigns_M6() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.Removed(1));
    one.core.receive(THREE, new PeerMessage.Removed(9));
    assertThat(one.effects.take()).containsExactly(new RecordingEffects.Removed());
    one.ticks(100);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    one.core.receive(TWO, new PeerMessage.TimeoutNow(4));
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
  }
}
