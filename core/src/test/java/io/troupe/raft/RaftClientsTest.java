package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.entry;
import static io.troupe.raft.RaftFixture.id;
import static io.troupe.raft.RaftFixture.noop;
import static io.troupe.raft.RaftFixture.proposals;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Invariant;
import io.troupe.model.Refusal;
import io.troupe.model.TraceContext;
import io.troupe.raft.RecordingEffects.Apply;
import io.troupe.raft.RecordingEffects.Reject;
import io.troupe.raft.RecordingEffects.RejectRead;
import io.troupe.raft.RecordingEffects.ReleaseRead;
import io.troupe.raft.RecordingEffects.Send;
import io.troupe.raft.membership.Membership;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Proposals and reads: Raft dissertation 6.2 to 6.4; limits of Q6. */
class RaftClientsTest {
  // ---- proposals

  @Test
  void proposalsAndReadsAreRefusedWithoutLeader() {
    RaftFixture one = RaftFixture.fresh(3);
    one.effects.take();
    one.core.propose(proposals("a", "b"));
    one.core.requestRead(5);
    assertThat(one.effects.take())
        .containsExactly(
            new Reject(id("a"), Refusal.NO_LEADER),
            new Reject(id("b"), Refusal.NO_LEADER),
            new RejectRead(5, Refusal.NO_LEADER));
  }

  @Test
  void followerForwardsAndLeaderAcceptsEachMessageOnce() {
    RaftFixture follower = RaftFixture.withLog(1);
    follower.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0));
    follower.effects.take();
    follower.core.propose(proposals("a"));
    PeerMessage forwarded = follower.sentTo(TWO).get(0);

    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    leader.core.receive(TWO, forwarded);
    leader.core.receive(TWO, forwarded);
    assertThat(leader.core.status().lastIndex()).isEqualTo(2);
  }

  // ---- a leader whose process was paused

  /** Another member may lead by now; entries that this leader appends would be lost. */
  @Test
  void resumedLeaderProposesNothingBeforeQuorumConfirmsTerm() {
    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    leader.core.resumed();
    leader.effects.take(Apply.class);
    leader.core.propose(proposals("a"));
    leader.core.receive(TWO, new PeerMessage.ForwardedProposals(1, 77, 1, proposals("b")));
    assertThat(leader.core.status().lastIndex()).isEqualTo(1);
    // A reply that was sent before the pause confirms nothing.
    leader.core.receive(THREE, new PeerMessage.HeartbeatReply(1, 0));
    assertThat(leader.core.status().lastIndex()).isEqualTo(1);
    confirm(leader);
    assertThat(leader.core.status().lastIndex()).isEqualTo(3);
    assertThat(leader.effects.take(Reject.class)).isEmpty();
  }

  private static void confirm(RaftFixture leader) {
    leader.effects.take();
    leader.ticks(SETTINGS.heartbeatTicks());
    PeerMessage.Heartbeat heartbeat =
        leader.sentTo(TWO).stream()
            .filter(PeerMessage.Heartbeat.class::isInstance)
            .map(PeerMessage.Heartbeat.class::cast)
            .findFirst()
            .orElseThrow();
    leader.core.receive(TWO, new PeerMessage.HeartbeatReply(1, heartbeat.readContext()));
  }

  /** A round that started before the second pause proves nothing about the time after it. */
  @Test
  void leaderPausedTwiceWaitsForSecondConfirmation() {
    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    leader.core.resumed();
    leader.core.propose(proposals("a"));
    leader.core.resumed();
    confirm(leader);
    assertThat(leader.core.status().lastIndex()).isEqualTo(1);
    confirm(leader);
    assertThat(leader.core.status().lastIndex()).isEqualTo(2);
  }

  @Test
  void heldProposalsAreRefusedWhenAnotherMemberLeads() {
    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    leader.core.resumed();
    leader.core.propose(proposals("a"));
    leader.core.receive(THREE, new PeerMessage.ForwardedProposals(1, 77, 1, proposals("b")));
    leader.effects.take();
    leader.core.receive(TWO, new PeerMessage.Heartbeat(2, 0, 0));
    List<RecordingEffects.Effect> effects = leader.effects.take();
    assertThat(effects)
        .contains(
            new Reject(id("a"), Refusal.NO_LEADER),
            new Send(
                THREE, new PeerMessage.ProposalsRejected(1, List.of(id("b")), Refusal.NO_LEADER)));
    assertThat(leader.core.status().lastIndex()).isEqualTo(1);
  }

  @Test
  void heldProposalsAreBounded() {
    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    leader.core.resumed();
    for (int i = 0; i < SETTINGS.maxPendingProposals(); i++) {
      leader.core.propose(proposals("p" + i));
    }
    leader.effects.take();
    leader.core.propose(proposals("q"));
    assertThat(leader.effects.take())
        .containsExactly(new Reject(id("q"), Refusal.TOO_MANY_REQUESTS));
  }

  @Test
  void soleVoterConfirmsItself() {
    RaftFixture leader = RaftFixture.fresh(1);
    leader.durable();
    leader.durable();
    leader.core.resumed();
    long last = leader.core.status().lastIndex();
    leader.core.propose(proposals("a"));
    assertThat(leader.core.status().lastIndex()).isEqualTo(last + 1);
  }

  /** No client may wait without result because the proposal of another client was faster. */
  @Test
  void overtakenForwardedMessageIsAccepted() {
    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    PeerMessage first = new PeerMessage.ForwardedProposals(1, 77, 1, proposals("a"));
    PeerMessage second = new PeerMessage.ForwardedProposals(1, 77, 2, proposals("b"));
    leader.core.receive(TWO, second);
    leader.core.receive(TWO, first);
    assertThat(leader.core.status().lastIndex()).as("both are in the log").isEqualTo(3);
    leader.core.receive(TWO, second);
    leader.core.receive(TWO, first);
    assertThat(leader.core.status().lastIndex()).as("once").isEqualTo(3);
  }

  @Test
  void traceIsForwardedWithProposalButNotLogged() {
    TraceContext call = new TraceContext(1, 2, 3, 1);
    List<Proposal> batch =
        List.of(
            new Proposal(id("a"), Bytes.utf8("a")),
            new Proposal(id("b"), Bytes.utf8("b"), false, call));
    RaftFixture follower = RaftFixture.withLog(1);
    follower.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0));
    follower.effects.take();
    follower.core.propose(batch);
    PeerMessage.ForwardedProposals sent =
        (PeerMessage.ForwardedProposals) follower.sentTo(TWO).get(0);
    assertThat(sent.proposals()).isEqualTo(batch);
    assertThat(sent.isTraced()).isTrue();
    assertThat(new PeerMessage.ForwardedProposals(1, 7, 1, proposals("x")).isTraced()).isFalse();

    RaftFixture traced = RaftFixture.fresh(3).leadAndCommit();
    traced.core.receive(TWO, new PeerMessage.ForwardedProposals(1, 77, 1, batch));
    RaftFixture untraced = RaftFixture.fresh(3).leadAndCommit();
    untraced.core.receive(TWO, new PeerMessage.ForwardedProposals(1, 77, 1, proposals("a", "b")));
    assertThat(traced.effects.take()).isEqualTo(untraced.effects.take());
  }

  @Test
  void tooManyPendingProposalsAreRefused_Q6() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("1", "2", "3", "4", "5", "6", "7", "8", "9"));
    assertThat(one.effects.take(Reject.class))
        .containsExactly(new Reject(id("9"), Refusal.TOO_MANY_REQUESTS));
    one.core.receive(TWO, new PeerMessage.ForwardedProposals(1, 77, 1, proposals("x")));
    assertThat(one.sentTo(TWO))
        .containsExactly(
            new PeerMessage.ProposalsRejected(1, List.of(id("x")), Refusal.TOO_MANY_REQUESTS));
    one.durable();
    one.ack(TWO, 5);
    one.core.applied(5);
    one.effects.take();
    one.core.propose(proposals("y"));
    assertThat(one.effects.take(Reject.class)).as("space again").isEmpty();
  }

  private static Proposal priority(String name) {
    return new Proposal(id(name), Bytes.utf8(name), true, null);
  }

  private static List<Proposal> mixed(String... names) {
    List<Proposal> batch = new ArrayList<>();
    for (String name : names) {
      batch.add(name.startsWith("!") ? priority(name) : proposals(name).get(0));
    }
    return batch;
  }

  /**
   * Eight proposals may be pending (including the first entry of the term), sixteen with priority.
   */
  @Test
  void priorityProposalsHaveTwiceTheLimit_Q6() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(mixed("!1", "2", "3", "4", "5", "6", "7", "8", "9", "!10", "11"));
    assertThat(one.effects.take(Reject.class))
        .containsExactly(
            new Reject(id("9"), Refusal.TOO_MANY_REQUESTS),
            new Reject(id("11"), Refusal.TOO_MANY_REQUESTS));
    assertThat(one.core.status().lastIndex()).isEqualTo(10);
    one.core.receive(
        TWO, new PeerMessage.ForwardedProposals(1, 77, 1, mixed("x", "!a", "!b", "!c")));
    assertThat(one.sentTo(TWO))
        .contains(
            new PeerMessage.ProposalsRejected(1, List.of(id("x")), Refusal.TOO_MANY_REQUESTS));
    one.core.propose(mixed("!d", "!e", "!f", "!g", "!h"));
    assertThat(one.effects.take(Reject.class))
        .containsExactly(new Reject(id("!h"), Refusal.TOO_MANY_REQUESTS));
    assertThat(one.core.status().lastIndex()).isEqualTo(17);
  }

  @Test
  void laggingFollowerForwardsOnlyPriorityProposals_Q6() {
    RaftFixture follower = RaftFixture.withLog(1, 1, 1, 1, 1, 1, 1, 1, 1, 1);
    follower.core.receive(TWO, new PeerMessage.Heartbeat(1, 8, 0));
    follower.effects.take();
    follower.core.propose(mixed("a", "!b", "c"));
    assertThat(follower.effects.take())
        .hasSize(3)
        .contains(
            new Reject(id("a"), Refusal.TOO_MANY_REQUESTS),
            new Reject(id("c"), Refusal.TOO_MANY_REQUESTS))
        .filteredOn(Send.class::isInstance)
        .singleElement()
        .extracting(effect -> ((Send) effect).message())
        .isInstanceOfSatisfying(
            PeerMessage.ForwardedProposals.class,
            sent -> assertThat(sent.proposals()).containsExactly(priority("!b")));
  }

  @Test
  void refusalOfLeaderReachesClientOfFollower() {
    RaftFixture one = RaftFixture.withLog(1);
    one.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0));
    one.effects.take();
    one.core.receive(
        TWO, new PeerMessage.ProposalsRejected(1, List.of(id("a")), Refusal.TOO_MANY_REQUESTS));
    assertThat(one.effects.take()).containsExactly(new Reject(id("a"), Refusal.TOO_MANY_REQUESTS));
  }

  @Test
  void logMemoryIsBounded() {
    RaftSettings settings = new RaftSettings(10, 2, 100, 10_000, 2, 10_000, 1000, 1000, 0);
    RaftFixture one = new RaftFixture(RaftState.fresh(ONE, RaftFixture.voters(1)), settings);
    one.persisted(1, 0);
    one.persisted(1, 1);
    for (int i = 0; i < 30; i++) {
      one.core.propose(proposals("p" + i));
    }
    assertThat(one.effects.take(Reject.class)).isNotEmpty();
    long last = one.core.status().lastIndex();
    assertThat(last).isBetween(10L, 20L);
    one.persisted(1, last);
    one.core.applied(last);
    assertThat(one.core.log.bytesInMemory()).isLessThan(1000);
    one.core.propose(proposals("q"));
    assertThat(one.effects.take(Reject.class)).isEmpty();
  }

  // ---- reads

  @Test
  void soleVoterReadsImmediatelyAfterItsFirstEntryIsCommitted_6_4() {
    RaftFixture one = RaftFixture.fresh(1);
    one.persisted(1, 0);
    one.effects.take();
    one.core.requestRead(1);
    assertThat(one.effects.take()).isEmpty();
    one.persisted(1, 1);
    assertThat(one.effects.take())
        .containsExactly(new ReleaseRead(1, 1), new Apply(List.of(noop(1, 1))));
    one.core.requestRead(2);
    assertThat(one.effects.take()).containsExactly(new ReleaseRead(2, 1));
  }

  @Test
  void readWaitsForQuorumOfItsOwnRound_6_4() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.requestRead(1);
    long context = heartbeatContext(one);
    one.core.requestRead(2);
    assertThat(one.effects.take()).as("younger reads wait for the next round").isEmpty();
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, 0));
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, context - 1));
    assertThat(one.effects.take(ReleaseRead.class)).as("replies to other heartbeats").isEmpty();
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, context));
    List<RecordingEffects.Effect> effects = one.effects.take();
    assertThat(effects)
        .filteredOn(ReleaseRead.class::isInstance)
        .containsExactly(new ReleaseRead(1, 1));
    assertThat(effects)
        .anyMatch(
            e ->
                e instanceof Send s
                    && s.message() instanceof PeerMessage.Heartbeat h
                    && h.readContext() != context
                    && h.readContext() != 0);
  }

  @Test
  void pendingReadsShareRound_6_4() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.requestRead(1);
    long first = heartbeatContext(one);
    one.core.requestRead(2);
    one.core.requestRead(3);
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, first));
    long second = heartbeatContext(one);
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, second));
    assertThat(one.effects.take(ReleaseRead.class))
        .containsExactly(new ReleaseRead(2, 1), new ReleaseRead(3, 1));
  }

  @Test
  void lostRoundIsRepeatedByNextHeartbeat_6_4() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.requestRead(1);
    long context = heartbeatContext(one);
    one.ticks(SETTINGS.heartbeatTicks());
    assertThat(heartbeatContext(one)).isEqualTo(context);
  }

  @Test
  void readsAreRefusedWhenLeaderStepsDown() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.requestRead(1);
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.Heartbeat(2, 0, 0));
    assertThat(one.effects.take(RejectRead.class))
        .containsExactly(new RejectRead(1, Refusal.LEADER_CHANGED));
  }

  @Test
  void followerRepeatsReadIndexUntilReply_6_4() {
    RaftFixture follower = RaftFixture.withLog(1);
    follower.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0));
    follower.effects.take();
    follower.core.requestRead(1);
    PeerMessage request = follower.sentTo(TWO).get(0);
    follower.core.requestRead(2);
    assertThat(follower.effects.take()).isEmpty();
    follower.ticks(SETTINGS.heartbeatTicks());
    assertThat(follower.sentTo(TWO)).containsExactly(request);
    long context = ((PeerMessage.ReadIndex) request).context();
    follower.core.receive(TWO, new PeerMessage.ReadIndexReply(1, context + 9, 1));
    assertThat(follower.effects.take()).isEmpty();
    follower.core.receive(TWO, new PeerMessage.ReadIndexReply(1, context, 4));
    List<RecordingEffects.Effect> effects = follower.effects.take();
    assertThat(effects).hasSize(2).contains(new ReleaseRead(1, 4));
    follower.core.receive(TWO, new PeerMessage.ReadIndexReply(1, context, 4));
    assertThat(follower.effects.take()).as("a reply counts once").isEmpty();
  }

  @Test
  void twoRunsOfMemberNeverShareContext_6_4() {
    RaftState state = RaftState.fresh(ONE, RaftFixture.voters(3));
    RaftCore before =
        new RaftCore(state, SETTINGS, new java.util.SplittableRandom(1), new RecordingEffects());
    RaftCore after =
        new RaftCore(state, SETTINGS, new java.util.SplittableRandom(2), new RecordingEffects());
    assertThat(before.nextReadContext()).isNotEqualTo(after.nextReadContext());
  }

  @Test
  void requestOfVoterConfirmsItsOwnReadIndex_6_4() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.requestRead(1);
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.ReadIndex(1, 99));
    assertThat(one.effects.take())
        .as("two of three, and nothing for reads of other members")
        .containsExactly(new Send(TWO, new PeerMessage.ReadIndexReply(1, 99, 1)));
  }

  @Test
  void newLeaderDelaysReadIndexUntilCommitInItsTerm_6_4() {
    RaftFixture one = RaftFixture.fresh(3).lead();
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.ReadIndex(1, 99));
    assertThat(one.sentTo(TWO)).isEmpty();
    one.durable();
    one.ack(TWO, 1);
    long context = heartbeatContext(one);
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, context));
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.ReadIndexReply(1, 99, 1));
  }

  @Test
  void requestOfLearnerConfirmsNothing_6_4() {
    RaftFixture one =
        new RaftFixture(
                RaftState.fresh(ONE, new Membership(Set.of(ONE, TWO), Set.of(THREE))), SETTINGS)
            .leadAndCommit();
    one.core.receive(THREE, new PeerMessage.ReadIndex(1, 99));
    long context = heartbeatContext(one);
    assertThat(one.sentTo(THREE)).isEmpty();
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, context));
    assertThat(one.sentTo(THREE)).containsExactly(new PeerMessage.ReadIndexReply(1, 99, 1));
  }

  @Test
  void twoOfFiveAreNotEnoughForReadIndex_6_4() {
    RaftFixture one = RaftFixture.fresh(5);
    while (one.core.status().role() == RaftRole.FOLLOWER) {
      one.ticks(1);
    }
    one.core.receive(TWO, new PeerMessage.VoteReply(1, true, true));
    one.core.receive(THREE, new PeerMessage.VoteReply(1, true, true));
    one.durable();
    one.core.receive(TWO, new PeerMessage.VoteReply(1, false, true));
    one.core.receive(THREE, new PeerMessage.VoteReply(1, false, true));
    one.durable();
    one.ack(TWO, 1);
    one.ack(THREE, 1);
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.ReadIndex(1, 99));
    long context = heartbeatContext(one);
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, context));
    assertThat(one.sentTo(TWO)).isEmpty();
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, context));
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.ReadIndexReply(1, 99, 1));
  }

  // ---- misuse

  @Test
  void diskMayCompleteSeveralPersistsTogetherButNothingElse() {
    RaftFixture one = RaftFixture.fresh(1);
    one.persisted(1, 0);
    one.core.propose(proposals("a"));
    one.core.propose(proposals("b"));
    one.persisted(1, 3);
    assertThat(one.core.status().commit()).isEqualTo(3);
    assertThatThrownBy(() -> one.core.persisted(99)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void appliedAndCompactedIndexAreChecked() {
    assertThatThrownBy(() -> RaftFixture.fresh(1).core.applied(1))
        .isInstanceOf(Invariant.Broken.class);
    RaftFixture one = RaftFixture.withLog(1, 1, 1);
    one.append(1, 2, 1, 2);
    one.core.applied(1);
    one.core.compactLog(1);
    assertThat(one.core.status().firstIndex()).isEqualTo(2);
    assertThat(one.core.log.get(2)).isEqualTo(entry(1, 2));
    assertThatThrownBy(() -> one.core.compactLog(3)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void settingsAreCheckedByName() {
    assertThatThrownBy(() -> new RaftSettings(4, 1, 1, 1, 1, 1, 1, 1, 0))
        .hasMessageContaining("electionTicks");
    assertThatThrownBy(() -> new RaftSettings(5, 1, 1, 1, 0, 1, 1, 1, 0))
        .hasMessageContaining("maxInflightAppends");
    assertThatThrownBy(() -> new RaftSettings(5, 1, 1, 1, 1, 0, 1, 1, 0))
        .hasMessageContaining("maxInflightBytes");
  }

  private static long heartbeatContext(RaftFixture one) {
    return one.effects.take(Send.class).stream()
        .filter(s -> s.message() instanceof PeerMessage.Heartbeat)
        .map(s -> ((PeerMessage.Heartbeat) s.message()).readContext())
        .filter(context -> context != 0)
        .findFirst()
        .orElseThrow();
  }
}
