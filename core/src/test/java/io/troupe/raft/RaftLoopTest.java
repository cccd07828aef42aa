package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import io.troupe.raft.membership.ConfChange;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** A member of three in term 5. */
class RaftLoopTest {
  private static final long TICK = 100;
  private static final long ELECTION = TICK * RaftFixture.SETTINGS.electionTicks();
  private static final SnapshotMark MARK = new SnapshotMark(100, 4, RaftFixture.voters(3));

  private final RecordingLoopEffects effects = new RecordingLoopEffects();
  private final RaftLoop<String, String, String> loop =
      new RaftLoop<>(
          new RaftState(
              ONE, new HardState(5, NodeId.NONE, 0), RaftFixture.voters(3), 0, 0, List.of(), 0),
          RaftFixture.SETTINGS,
          TICK,
          new SplittableRandom(7),
          effects);

  private static Proposal proposal(long id) {
    return new Proposal(new RequestId(id), Bytes.EMPTY);
  }

  /** Member 2 leads in this term. */
  private void follow(long term) {
    loop.start();
    loop.receive(TWO, new PeerMessage.Heartbeat(term, 0, 0));
    effects.take();
  }

  /** Leads in term 6; the first entry is committed and applied. */
  private void lead() {
    follow(5);
    becomeLeader();
  }

  private void becomeLeader() {
    loop.receive(TWO, new PeerMessage.TimeoutNow(5));
    loop.persisted(effects.written);
    loop.receive(TWO, new PeerMessage.VoteReply(6, false, true));
    loop.persisted(effects.written);
    acknowledge(1);
    loop.applied(1);
    effects.take();
  }

  private void acknowledge(long index) {
    loop.receive(TWO, PeerMessage.AppendReply.matched(6, index));
  }

  private void propose(long id, String caller) {
    loop.propose(proposal(id), caller);
    loop.flushProposals();
  }

  // ---- time

  @Test
  void resumedLeaderConfirmsItsTermBeforeItProposes() {
    lead();
    effects.nanos += ELECTION + 1;
    propose(1, "one");
    assertThat(effects.take())
        .startsWith("flush later", "paused " + (ELECTION + 1), "send Heartbeat to 2")
        .contains("expect [one] 6")
        .doesNotContain("persist [2]");
  }

  @Test
  void pauseOfElectionTimeoutOrLessIsIgnored() {
    lead();
    effects.nanos += ELECTION;
    propose(1, "one");
    effects.nanos += ELECTION;
    propose(2, "two");
    assertThat(effects.take())
        .contains("persist [2]", "persist [3]")
        .noneMatch(effect -> effect.startsWith("paused"));
  }

  @Test
  void timeBeforeStartIsNoPause() {
    effects.nanos += 10 * ELECTION;
    loop.start();
    loop.tick();
    assertThat(effects.take()).noneMatch(effect -> effect.startsWith("paused"));
  }

  /** Who sees an earlier term in the status knows that this member has not voted in a later one. */
  @Test
  void laterTermIsPublishedBeforeItsVoteIsWritten() {
    follow(5);
    loop.receive(THREE, new PeerMessage.RequestVote(9, false, 100, 5, true));
    assertThat(effects.take()).containsSubsequence("status FOLLOWER 9", "persist []");
    loop.receive(TWO, new PeerMessage.Heartbeat(9, 0, 0));
    loop.receive(TWO, new PeerMessage.TimeoutNow(9));
    assertThat(effects.take()).containsSubsequence("status CANDIDATE 10", "persist []");
  }

  @Test
  void statusIsPublishedAfterEachInput() {
    follow(5);
    loop.tick();
    loop.applied(0);
    assertThat(effects.take()).containsExactly("status FOLLOWER 5", "status FOLLOWER 5");
  }

  @Test
  void flushOfDelayedAppendsIsRequestedOnceUntilItRuns() {
    lead();
    propose(1, "one");
    propose(2, "two");
    propose(3, "three");
    assertThat(effects.take()).containsOnlyOnce("flush delayed appends later");
    loop.flushDelayedAppends();
    assertThat(effects.take()).contains("send Append to 2");
    acknowledge(4);
    propose(4, "four");
    propose(5, "five");
    assertThat(effects.take()).contains("flush delayed appends later");
  }

  // ---- proposals

  @Test
  void callersAreExpectedBeforeTheirBatchIsProposed() {
    lead();
    loop.propose(proposal(1), "one");
    loop.propose(proposal(2), "two");
    assertThat(effects.take()).containsExactly("flush later");
    loop.flushProposals();
    assertThat(effects.take())
        .containsSubsequence("expect [one, two] 6", "persist [2, 3]", "status LEADER 6");
  }

  @Test
  void proposalInOtherTermIsRefusedAndNeverForwarded() {
    lead();
    loop.proposeInTerm(5, proposal(1), "former");
    assertThat(effects.take()).containsExactly("proposal refused former NOT_LEADER");
    loop.proposeInTerm(6, proposal(2), "current");
    assertThat(effects.take()).containsSubsequence("expect [current] 6", "persist [2]");
    loop.receive(THREE, new PeerMessage.Heartbeat(7, 0, 0));
    effects.take();
    loop.proposeInTerm(7, proposal(3), "follower");
    assertThat(effects.take()).containsExactly("proposal refused follower NOT_LEADER");
  }

  @Test
  void callerOfMembershipChangeIsExpectedBeforeItIsRefused() {
    lead();
    loop.proposeConfChange(outdatedChange(9), "operator");
    assertThat(effects.take())
        .containsSubsequence("expect [operator] 6", "reject 9 TOO_MANY_REQUESTS");
  }

  private static ConfProposal outdatedChange(long id) {
    ConfChange change = new ConfChange(ConfChange.Kind.ADD_VOTER, new NodeId(4), List.of("url"));
    return new ConfProposal(new RequestId(id), List.of(change), 77);
  }

  // ---- reads

  @Test
  void readIsReadyIfItsIndexIsApplied() {
    lead();
    loop.readIndex("reader");
    loop.receive(TWO, heartbeatReply());
    assertThat(effects.take()).contains("read ready reader 1");
  }

  @Test
  void readWaitsForStateIfItsIndexIsNotApplied() {
    lead();
    propose(1, "one");
    loop.persisted(effects.written);
    acknowledge(2);
    loop.readIndex("reader");
    loop.receive(TWO, heartbeatReply());
    assertThat(effects.take())
        .contains("apply [2]", "await applied reader 2")
        .doesNotContain("read ready reader 2");
  }

  private PeerMessage heartbeatReply() {
    return new PeerMessage.HeartbeatReply(6, effects.context);
  }

  @Test
  void leadershipIsConfirmedOnlyInTermInWhichThisMemberLeads() {
    lead();
    loop.confirmLeadership(5, NodeId.NONE, "former");
    assertThat(effects.take()).containsExactly("read failed former NOT_LEADER");
    loop.confirmLeadership(6, NodeId.NONE, "current");
    loop.receive(THREE, new PeerMessage.Heartbeat(7, 0, 0));
    assertThat(effects.take()).contains("read failed current LEADER_CHANGED");
  }

  /** The member had this term after the caller's request arrived, so no other one can lead. */
  @Test
  void leadershipOfOneOfThreeIsConfirmedByOneSupporter() {
    lead();
    loop.confirmLeadership(6, TWO, "supported");
    assertThat(effects.take())
        .contains("read ready supported 1")
        .doesNotContain("send Heartbeat to 2");
    loop.confirmLeadership(5, TWO, "former");
    assertThat(effects.take()).containsExactly("read failed former NOT_LEADER");
    loop.confirmLeadership(6, ONE, "itself");
    loop.confirmLeadership(6, new NodeId(4), "unknown");
    assertThat(effects.take()).noneMatch(effect -> effect.startsWith("read ready"));
    loop.receive(THREE, heartbeatReply());
    loop.receive(THREE, heartbeatReply());
    assertThat(effects.take()).contains("read ready itself 1", "read ready unknown 1");
  }

  /** Before an entry of its term is committed, it does not know what its predecessors committed. */
  @Test
  void supporterOfNewLeaderIsNotEnough() {
    follow(5);
    loop.receive(TWO, new PeerMessage.TimeoutNow(5));
    loop.persisted(effects.written);
    loop.receive(TWO, new PeerMessage.VoteReply(6, false, true));
    loop.confirmLeadership(6, TWO, "early");
    assertThat(effects.take()).noneMatch(effect -> effect.startsWith("read"));
  }

  // ---- leadership

  @Test
  void changesOfLeadershipAreReportedOnce() {
    lead();
    loop.tick();
    loop.receive(THREE, new PeerMessage.Heartbeat(7, 0, 0));
    loop.receive(THREE, new PeerMessage.Heartbeat(7, 0, 0));
    assertThat(effects.take()).containsOnlyOnce("stopped leading 7").doesNotContain("leads 6");
  }

  @Test
  void callerOfTransferFindsNewLeaderInStatus() {
    lead();
    loop.transferLeadership(THREE, "operator");
    effects.take();
    loop.receive(THREE, new PeerMessage.Heartbeat(7, 0, 0));
    assertThat(effects.take())
        .containsSubsequence(
            "role changed FOLLOWER 7",
            "status FOLLOWER 7",
            "transfer done operator",
            "stopped leading 7");
    loop.transferLeadership(THREE, "again");
    assertThat(effects.take()).containsExactly("transfer done again");
  }

  @Test
  void transferFailsIfOtherMemberBecomesLeader() {
    lead();
    loop.transferLeadership(THREE, "operator");
    loop.receive(TWO, new PeerMessage.Heartbeat(7, 0, 0));
    assertThat(effects.take()).contains("transfer failed operator LEADER_CHANGED");
  }

  @Test
  void transferThatIsNotPossibleFailsImmediately() {
    follow(5);
    loop.transferLeadership(THREE, "operator");
    assertThat(effects.take())
        .containsSubsequence(
            "transfer refused to 3 NOT_LEADER", "transfer failed operator NOT_LEADER");
  }

  @Test
  void handOverIsDoneOnFollowerAndEndsLeadership() {
    follow(5);
    loop.handOver("follower");
    assertThat(effects.take()).containsExactly("transfer done follower");
    becomeLeader();
    loop.handOver("leader");
    assertThat(effects.take()).doesNotContain("transfer done leader");
    loop.receive(THREE, new PeerMessage.Heartbeat(7, 0, 0));
    assertThat(effects.take()).contains("transfer done leader");
  }

  @Test
  void digestCountsOnlyFromLeaderOfThisTerm() {
    follow(7);
    assertThat(loop.follows(TWO, 7)).isTrue();
    assertThat(loop.follows(THREE, 7)).isFalse();
    assertThat(loop.follows(TWO, 6)).isFalse();
  }

  // ---- installation

  @Test
  void snapshotOfMemberWithoutItsContentIsDropped() {
    follow(5);
    loop.receive(TWO, new PeerMessage.InstallSnapshot(5, MARK));
    assertThat(effects.take()).containsExactly("snapshot dropped from 2");
  }

  @Test
  void pendingRequestsAreRefusedWhenInstallationBegins() {
    follow(5);
    loop.propose(proposal(1), "writer");
    loop.readIndex("reader");
    effects.take();
    loop.snapshotReceived(TWO, new PeerMessage.InstallSnapshot(5, MARK));
    assertThat(effects.take())
        .containsSubsequence(
            "install 100",
            "status FOLLOWER 5",
            "proposal refused writer NO_LEADER",
            "read failed reader NO_LEADER");
  }

  @Test
  void everythingIsRefusedWhileSnapshotIsInstalled() {
    follow(5);
    loop.snapshotReceived(TWO, new PeerMessage.InstallSnapshot(5, MARK));
    effects.take();
    loop.propose(proposal(1), "one");
    loop.proposeInTerm(5, proposal(2), "two");
    loop.proposeConfChange(outdatedChange(3), "three");
    loop.readIndex("four");
    loop.confirmLeadership(5, NodeId.NONE, "five");
    loop.transferLeadership(THREE, "six");
    loop.handOver("seven");
    assertThat(effects.take())
        .containsExactly(
            "proposal refused one NO_LEADER",
            "proposal refused two NOT_LEADER",
            "proposal refused three NO_LEADER",
            "read failed four NO_LEADER",
            "read failed five NOT_LEADER",
            "transfer failed six NOT_LEADER",
            "transfer done seven");
    effects.nanos += 2 * ELECTION;
    loop.flushProposals();
    loop.flushDelayedAppends();
    loop.tick();
    loop.receive(TWO, new PeerMessage.Append(5, 100, 4, List.of(), 100));
    loop.receive(TWO, new PeerMessage.InstallSnapshot(5, MARK));
    loop.snapshotReceived(TWO, new PeerMessage.InstallSnapshot(5, MARK));
    loop.persisted(99);
    loop.applied(100);
    loop.compactLog(100);
    loop.logRead(TWO, 1, List.of());
    loop.snapshotSent(TWO, 1, 100, true);
    assertThat(effects.take()).isEmpty();
    assertThat(loop.isInstalling()).isTrue();
    assertThat(loop.follows(TWO, 5)).isFalse();
    assertThat(loop.replication()).isNull();
  }
}
