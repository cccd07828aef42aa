package io.troupe.simulation.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.membership.ConfChange;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.world.SimMember;
import io.troupe.simulation.world.SimWorld;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Membership changes and partitions that are known to break clusters. The letters are those of
 * docs/simulation.md.
 */
class ClusterScenarioTest {
  private static final ConfChange.Kind VOTER = ConfChange.Kind.ADD_VOTER;
  private static final ConfChange.Kind LEARNER = ConfChange.Kind.ADD_LEARNER;

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void emptyMemberJoinsUnderLoadAndLeaderStays_a(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 1, 6);
    story.pass(5);
    SimMember leader = story.leader();
    long term = story.termOf(leader);
    SimMember newcomer = story.member(4);
    story.add(VOTER, newcomer);
    story.pass(2);
    newcomer.boot();
    story.await("the newcomer votes", () -> story.world.membership().isVoter(newcomer.id()));
    story.await("it has caught up", () -> newcomer.revision() > leader.revision() - 50);
    story.pass(5);
    assertThat(story.leader()).isSameAs(leader);
    assertThat(story.termOf(leader)).as("no election").isEqualTo(term);
    assertThat(story.world.coverage().of("snapshots installed")).as("by snapshot").isPositive();
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void isolatedFollowerForcesNoElectionAndServesNothingStale_b(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 0, 4);
    story.pass(2);
    SimMember leader = story.leader();
    long term = story.termOf(leader);
    SimMember alone = story.follower();
    story.cutOff(Set.of(alone));
    story.works(leader);
    story.doesNotServe(alone);
    assertThat(story.read(alone, true, 3))
        .as("a serializable read")
        .isInstanceOf(Answer.Done.class);
    story.pass(10);
    story.heal();
    story.pass(3);
    assertThat(story.leader()).isSameAs(leader);
    assertThat(story.termOf(leader)).as("its return forces no election").isEqualTo(term);
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void isolatedLeaderIsReplacedAndCommitsNothing_c(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 0, 4);
    story.pass(2);
    SimMember old = story.leader();
    story.cutOff(Set.of(old));
    story.doesNotServe(old);
    story.await("another leader", () -> story.leader() != old);
    SimMember next = story.leader();
    story.works(next);
    story.await("the old leader steps down", () -> !old.leads());
    story.doesNotServe(old);
    story.heal();
    story.pass(3);
    assertThat(story.leader()).isSameAs(next);
    story.works(old);
    story.end();
  }

  /**
   * The proposals that a leader made, that were forwarded to it, and that arrived while it was
   * paused: all get a result at most a second after the next leader's first entry is applied on
   * that member.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void writesOfResumedLeaderCompleteWithinOneSecond_c(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 0, 6);
    story.pass(2);
    SimMember old = story.leader();
    SimMember follower = story.follower();
    // Some are in its log and not committed, and some are in flight to it.
    List<Answer> before = story.beginPuts(old, 20);
    List<Answer> forwarded = story.beginPuts(follower, 20);
    story.passMs(1);
    old.pause(false);
    story.passMs(500);
    List<Answer> during = story.beginPuts(old, 20);
    story.passMs(3500);
    assertThat(forwarded).as("the next leader has begun").hasSize(20);
    story.passMs(4000);
    assertThat(story.leader()).isNotSameAs(old);
    List<Answer> justBefore = story.beginPuts(old, 20);
    old.resume();
    List<Answer> after = story.beginPuts(old, 20);
    story.passMs(1000);
    assertThat(before).hasSize(20);
    assertThat(during).hasSize(20);
    assertThat(justBefore).hasSize(20);
    assertThat(after).hasSize(20);
    assertThat(story.world.coverage().of("proposals lost with their leader")).isPositive();
    story.end();
  }

  /**
   * No other leader was elected meanwhile: the leader proposes the pending writes after a quorum
   * round.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void leaderThatStillLeadsAfterPauseProposesPendingWrites_c(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 0, 4);
    story.pass(2);
    SimMember leader = story.leader();
    long term = story.termOf(leader);
    story.world.members().forEach(member -> member.pause(false));
    story.pass(5);
    List<Answer> writes = story.beginPuts(leader, 20);
    story.world.members().forEach(SimMember::resume);
    story.passMs(1000);
    assertThat(writes).hasSize(20).allMatch(Answer.Done.class::isInstance);
    assertThat(story.termOf(leader)).isEqualTo(term);
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void fourMembersServeAsThreeAndOneButNotAsTwoAndTwo_d(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 1, 4);
    SimMember fourth = story.member(4);
    story.add(VOTER, fourth);
    fourth.boot();
    story.awaitVoters(4);
    story.works(fourth);

    for (SimMember one : Set.of(story.leader(), fourth)) {
      story.cutOff(Set.of(one));
      story.await(
          "three have a leader", () -> story.world.leader() != null && story.world.leader() != one);
      story.works(story.leader());
      story.doesNotServe(one);
      story.heal();
      story.pass(3);
    }

    story.cutOff(Set.of(story.member(1), fourth));
    story.await(
        "no member leads", () -> story.world.members().stream().noneMatch(SimMember::leads));
    story.world.members().forEach(story::doesNotServe);
    story.heal();
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void additionIsRefusedDuringPartitionAndWorksAfterwards_e(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 1, 4);
    story.pass(7);
    SimMember alone = story.follower();
    SimMember newcomer = story.member(4);
    story.cutOff(Set.of(alone));
    story.pass(7);
    assertThat(story.request(SimWorld.addition(VOTER, newcomer.id())))
        .as("two of four would be needed without a spare")
        .isEqualTo(Refusal.UNHEALTHY_CLUSTER);
    story.works(story.leader());
    story.heal();
    story.add(VOTER, newcomer);
    newcomer.boot();
    story.awaitVoters(4);
    story.end();
  }

  /** The opposite of (e): five members can do without the unreachable one. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void additionWorksDuringPartitionWithEnoughMembers_e(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 5, 1, 4);
    story.pass(7);
    SimMember alone = story.follower();
    SimMember newcomer = story.member(6);
    story.cutOff(Set.of(alone));
    story.pass(2);
    story.add(VOTER, newcomer);
    newcomer.boot();
    story.awaitVoters(6);
    story.works(newcomer);
    story.heal();
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void singleMemberClusterGrows_f(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 1, 2, 4);
    story.pass(3);
    for (int number = 2; number <= 3; number++) {
      SimMember newcomer = story.member(number);
      // The addition completes before the newcomer runs, which needs the response to start.
      story.add(VOTER, newcomer);
      story.pass(1);
      newcomer.boot();
      story.awaitVoters(number);
      story.works(newcomer);
      story.pass(6);
    }
    story.end();
  }

  /**
   * The second of two voters does not exist, so there is no majority, as in etcd. Nothing is lost,
   * and a member that starts at the address restores the quorum.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void wrongAddressBlocksSingleMemberUntilMemberStartsThere_g(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 1, 1, 4);
    SimMember only = story.member(1);
    story.works(only);
    SimMember unstarted = story.member(2);
    story.add(VOTER, unstarted);
    story.pass(3);
    story.doesNotServe(only);
    story.pass(5);
    story.doesNotServe(only);
    unstarted.boot();
    story.await("a leader", () -> story.world.leader() != null);
    story.works(only);
    story.end();
  }

  /** The safe way: a learner at a wrong address has no effect and can be removed. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void learnerWithWrongAddressDoesNotBlockCluster_g(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 1, 1, 4);
    SimMember only = story.member(1);
    SimMember unstarted = story.member(2);
    story.add(LEARNER, unstarted);
    story.pass(5);
    story.works(only);
    assertThat(story.request(new ConfChange(ConfChange.Kind.PROMOTE, unstarted.id())))
        .isEqualTo(Refusal.LEARNER_NOT_READY);
    assertThat(story.request(new ConfChange(ConfChange.Kind.REMOVE, unstarted.id()))).isNull();
    story.await("it is gone", () -> !story.world.membership().contains(unstarted.id()));
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void wrongAddressDoesNotBlockThreeMembersAndCanBeRemoved_g(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 2, 4);
    story.pass(7);
    SimMember leader = story.leader();
    SimMember unstarted = story.member(4);
    story.add(VOTER, unstarted);
    story.pass(10);
    story.works(story.leader());
    assertThat(story.leader()).as("the leader stays").isSameAs(leader);
    assertThat(story.request(SimWorld.addition(VOTER, story.member(5).id())))
        .as("three of five started would be enough, but not steady ones after a loss")
        .isNull();
    story.awaitVoters(5);
    story.works(story.leader());
    for (int number = 4; number <= 5; number++) {
      NodeId gone = story.member(number).id();
      story.await(
          "the removal is taken",
          () -> story.request(new ConfChange(ConfChange.Kind.REMOVE, gone)) == null);
      story.await("it is gone", () -> !story.world.membership().contains(gone));
    }
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void learnerIsPromotedOnlyAfterItCaughtUp_h(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 3, 1, 4);
    story.pass(3);
    SimMember learner = story.member(4);
    ConfChange promotion = new ConfChange(ConfChange.Kind.PROMOTE, learner.id());
    story.add(LEARNER, learner);
    assertThat(story.request(promotion)).isEqualTo(Refusal.LEARNER_NOT_READY);
    learner.boot();
    story.await("it has caught up", () -> learner.revision() > story.leader().revision() - 20);
    story.await("the promotion is taken", () -> story.request(promotion) == null);
    story.await("it votes", () -> story.world.membership().isVoter(learner.id()));
    story.works(learner);
    // Its vote counts from now on.
    story.await("a settled membership", () -> story.world.membership().isTransitionComplete());
    story.end();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2})
  void learnerRefusesCallsDoesNotCountAndNeverLeads_i(long seed) {
    ScriptedCluster story = new ScriptedCluster(seed, 1, 1, 0);
    SimMember voter = story.member(1);
    SimMember learner = story.member(2);
    story.add(LEARNER, learner);
    learner.boot();
    story.works(voter);
    story.await("it follows", learner::isAtEnd);
    Answer refused = new Answer.Refused(Refusal.LEARNER);
    assertThat(story.put(learner, 3)).isEqualTo(refused);
    assertThat(story.read(learner, false, 3)).isEqualTo(refused);
    assertThat(story.read(learner, true, 3)).isInstanceOf(Answer.Done.class);

    // The voter works without it.
    story.cutOff(Set.of(learner));
    story.works(voter);
    story.pass(10);
    assertThat(learner.leads()).isFalse();
    assertThat(story.termOf(learner)).isEqualTo(story.termOf(voter));
    story.heal();

    // Without the voter it does not lead.
    voter.pause(true);
    story.pass(10);
    assertThat(learner.leads()).isFalse();
    voter.resume();
    story.end();
  }
}
