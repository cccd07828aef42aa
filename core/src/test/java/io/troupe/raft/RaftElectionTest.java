package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.noop;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.RecordingEffects.Apply;
import io.troupe.raft.RecordingEffects.Persist;
import io.troupe.raft.RecordingEffects.RoleChanged;
import io.troupe.raft.RecordingEffects.Send;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Elections: Raft dissertation 3.4, 3.6.1, 6.2 and 9.6. */
class RaftElectionTest {
  @Test
  void soleVoterCampaignsImmediatelyAndLeadsWhenItsVoteIsDurable() {
    RaftFixture one = RaftFixture.fresh(1);
    assertThat(one.effects.take())
        .containsExactly(
            new Persist(new HardState(1, ONE, 0), List.of(), List.of()),
            new RoleChanged(RaftRole.CANDIDATE, 1, NodeId.NONE));
    one.persisted(1, 0);
    assertThat(one.effects.take())
        .containsExactly(
            new Persist(new HardState(1, ONE, 0), List.of(noop(1, 1)), List.of()),
            new RoleChanged(RaftRole.LEADER, 1, ONE));
    one.persisted(1, 1);
    assertThat(one.effects.take()).containsExactly(new Apply(List.of(noop(1, 1))));
  }

  @Test
  void preVoteChangesNoTerm_9_6() {
    RaftFixture one = RaftFixture.fresh(3);
    one.effects.take();
    one.ticks(2 * SETTINGS.electionTicks());
    assertThat(one.effects.take())
        .startsWith(
            new Send(TWO, new PeerMessage.RequestVote(1, true, 0, 0)),
            new Send(THREE, new PeerMessage.RequestVote(1, true, 0, 0)),
            new RoleChanged(RaftRole.PRE_CANDIDATE, 0, NodeId.NONE));
    assertThat(one.core.status().term()).isZero();
  }

  @Test
  void voteRequestsWaitForOwnDurableVote_3_4() {
    RaftFixture one = RaftFixture.fresh(3);
    one.ticks(2 * SETTINGS.electionTicks()).effects.take();
    one.core.receive(TWO, new PeerMessage.VoteReply(1, true, true));
    PeerMessage request = new PeerMessage.RequestVote(1, false, 0, 0);
    assertThat(one.effects.take())
        .containsExactly(
            new Persist(
                new HardState(1, ONE, 0),
                List.of(),
                List.of(new Outgoing(TWO, request), new Outgoing(THREE, request))),
            new RoleChanged(RaftRole.CANDIDATE, 1, NodeId.NONE));
    one.core.receive(TWO, new PeerMessage.VoteReply(1, false, true));
    assertThat(one.core.status().role())
        .as("own vote is not durable")
        .isEqualTo(RaftRole.CANDIDATE);
    one.persisted(1, 0);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.LEADER);
  }

  @Test
  void votesOncePerTermAndRepliesAfterVoteIsDurable_3_4() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.RequestVote(5, false, 1, 1));
    Outgoing yes = new Outgoing(TWO, new PeerMessage.VoteReply(5, false, true));
    assertThat(one.effects.take(Persist.class))
        .containsExactly(new Persist(new HardState(5, TWO, 0), List.of(), List.of(yes)));
    one.core.receive(THREE, new PeerMessage.RequestVote(5, false, 9, 4));
    Outgoing no = new Outgoing(THREE, new PeerMessage.VoteReply(5, false, false));
    assertThat(one.effects.take(Persist.class))
        .containsExactly(new Persist(new HardState(5, TWO, 0), List.of(), List.of(no)));
    one.persisted(5, 0);
    one.persisted(5, 0);
    one.core.receive(TWO, new PeerMessage.RequestVote(5, false, 1, 1));
    assertThat(one.effects.take()).containsExactly(new Send(yes.to(), yes.message()));
  }

  @Test
  void voteSurvivesRestart_3_4() {
    RaftFixture one =
        new RaftFixture(
            new RaftState(ONE, new HardState(5, TWO, 0), RaftFixture.voters(3), 0, 0, List.of(), 0),
            SETTINGS);
    one.effects.take();
    one.core.receive(THREE, new PeerMessage.RequestVote(5, false, 9, 4));
    assertThat(one.sentTo(THREE)).containsExactly(new PeerMessage.VoteReply(5, false, false));
  }

  @Test
  void refusesVoteForLogThatMayLackCommittedEntries_3_6_1() {
    for (boolean preVote : new boolean[] {true, false}) {
      assertThat(isGranted(preVote, 3, 2)).as("shorter").isFalse();
      assertThat(isGranted(preVote, 9, 1)).as("longer but of an older term").isFalse();
      assertThat(isGranted(preVote, 4, 2)).as("equal").isTrue();
      assertThat(isGranted(preVote, 1, 3)).as("shorter but of a newer term").isTrue();
    }
  }

  private static boolean isGranted(boolean preVote, long lastIndex, long lastTerm) {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2, 2);
    one.core.receive(TWO, new PeerMessage.RequestVote(5, preVote, lastIndex, lastTerm));
    return one.effects.take().stream()
        .flatMap(
            e ->
                e instanceof Send s
                    ? List.of(s.message()).stream()
                    : e instanceof Persist p
                        ? p.messagesAfterPersist().stream().map(Outgoing::message)
                        : List.<PeerMessage>of().stream())
        .anyMatch(m -> m instanceof PeerMessage.VoteReply reply && reply.granted());
  }

  @Test
  void ignoresCandidatesWhileLeaderWorks_6_2() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.Heartbeat(4, 0, 0));
    one.effects.take();
    one.core.receive(THREE, new PeerMessage.RequestVote(9, false, 9, 8));
    one.core.receive(THREE, new PeerMessage.RequestVote(9, true, 9, 8));
    assertThat(one.effects.take()).isEmpty();
    assertThat(one.core.status().term()).isEqualTo(4);
    one.ticks(SETTINGS.electionTicks());
    one.effects.take();
    one.core.receive(THREE, new PeerMessage.RequestVote(9, false, 9, 8));
    assertThat(one.core.status().term()).isEqualTo(9);
  }

  @Test
  void leaderWithoutQuorumStepsDown_6_2() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.ticks(SETTINGS.electionTicks());
    assertThat(one.core.status().role()).as("member 2 replied").isEqualTo(RaftRole.LEADER);
    one.ticks(SETTINGS.electionTicks());
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    assertThat(one.core.status().leader()).isEqualTo(NodeId.NONE);
    assertThat(one.core.status().term()).isEqualTo(1);
  }

  @Test
  void leaderStepsDownWhenDiskStalls() {
    RaftFixture one = RaftFixture.fresh(1);
    one.persisted(1, 0);
    one.ticks(SETTINGS.diskStallTicks() - 1);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.LEADER);
    one.ticks(1);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    one.ticks(100);
    assertThat(one.core.status().role())
        .as("it does not campaign again")
        .isEqualTo(RaftRole.FOLLOWER);
    one.persisted(1, 1);
    one.ticks(2 * SETTINGS.electionTicks());
    assertThat(one.core.status().role()).isEqualTo(RaftRole.CANDIDATE);
  }

  @Test
  void higherTermUnseatsLeader_3_3() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.receive(TWO, new PeerMessage.AppendReply(7, true, 0, 0, 0));
    assertThat(one.effects.take())
        .containsExactly(
            new Persist(new HardState(7, NodeId.NONE, 1), List.of(), List.of()),
            new RoleChanged(RaftRole.FOLLOWER, 7, NodeId.NONE));
  }

  @Test
  void oldLeaderReceivesCurrentTerm() {
    RaftFixture one = RaftFixture.withLog(4, 1);
    one.core.receive(TWO, new PeerMessage.Heartbeat(3, 0, 0));
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.AppendReply(4, true, 0, 0, 0));
  }

  @Test
  void candidateFollowsLeaderOfItsTerm_3_4() {
    RaftFixture one = RaftFixture.fresh(3);
    one.ticks(2 * SETTINGS.electionTicks());
    one.core.receive(TWO, new PeerMessage.VoteReply(1, true, true));
    one.core.receive(THREE, new PeerMessage.Heartbeat(1, 0, 0));
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    assertThat(one.core.status().leader()).isEqualTo(THREE);
  }

  @Test
  void lostElectionKeepsTerm() {
    RaftFixture one = RaftFixture.fresh(3);
    one.ticks(2 * SETTINGS.electionTicks());
    one.core.receive(TWO, new PeerMessage.VoteReply(0, true, false));
    one.core.receive(THREE, new PeerMessage.VoteReply(0, true, false));
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
    assertThat(one.core.status().term()).isZero();
  }

  @Test
  void twoLeadersInOneTermStopMember_3_4() {
    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    assertThatThrownBy(() -> leader.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0)))
        .isInstanceOf(Invariant.Broken.class);
    RaftFixture follower = RaftFixture.withLog(4, 1);
    follower.core.receive(TWO, new PeerMessage.Heartbeat(4, 0, 0));
    assertThatThrownBy(() -> follower.core.receive(THREE, new PeerMessage.Heartbeat(4, 0, 0)))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(follower.core::tick)
        .as("and it stays stopped")
        .isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void learnersNeverCampaign_M12() {
    RaftFixture learner =
        new RaftFixture(
            RaftState.fresh(THREE, new Membership(Set.of(ONE, TWO), Set.of(THREE))), SETTINGS);
    learner.ticks(100);
    assertThat(learner.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
  }

  @Test
  void timeoutIsDrawnFromOneToTwoElectionTimeouts_3_4() {
    assertThat(drawnTimeouts(core -> core.receive(TWO, new PeerMessage.Heartbeat(3, 0, 0))))
        .containsExactly(10, 11, 12, 13, 14, 15, 16, 17, 18, 19);
  }

  @Test
  void firstTimeoutIsShorterBecauseThereMayBeNoLeader() {
    assertThat(drawnTimeouts(core -> {})).containsExactly(3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  }

  private static Set<Integer> drawnTimeouts(Consumer<RaftCore> before) {
    Set<Integer> drawn = new TreeSet<>();
    for (int seed = 0; seed < 400; seed++) {
      RaftCore core =
          new RaftCore(
              RaftState.fresh(ONE, RaftFixture.voters(3)),
              SETTINGS,
              new SplittableRandom(seed),
              new RecordingEffects());
      core.start();
      before.accept(core);
      int ticks = 0;
      while (core.status().role() == RaftRole.FOLLOWER) {
        core.tick();
        ticks++;
      }
      drawn.add(ticks);
    }
    return drawn;
  }

  @Test
  void preVoteIsRepeatedToVotersWithoutReply_9_6() {
    RaftFixture one = RaftFixture.fresh(5);
    while (one.core.status().role() == RaftRole.FOLLOWER) {
      one.ticks(1);
    }
    PeerMessage request = new PeerMessage.RequestVote(1, true, 0, 0);
    assertThat(one.effects.take(Send.class)).hasSize(4);
    one.core.receive(TWO, new PeerMessage.VoteReply(1, true, true));
    one.core.receive(THREE, new PeerMessage.VoteReply(0, true, false));
    assertThat(one.effects.take(Send.class)).isEmpty();
    one.ticks(SETTINGS.heartbeatTicks());
    assertThat(one.effects.take(Send.class))
        .containsExactly(new Send(new NodeId(4), request), new Send(new NodeId(5), request));
    one.core.receive(new NodeId(5), new PeerMessage.VoteReply(1, true, true));
    assertThat(one.core.status().role()).isEqualTo(RaftRole.CANDIDATE);
  }
}
