package io.troupe.raft;

import static io.troupe.raft.ManualCluster.change;
import static io.troupe.raft.membership.ConfChange.Kind.ADD_LEARNER;
import static io.troupe.raft.membership.ConfChange.Kind.ADD_VOTER;
import static io.troupe.raft.membership.ConfChange.Kind.PROMOTE;
import static io.troupe.raft.membership.ConfChange.Kind.REMOVE;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Changes of the membership: Raft dissertation, chapter 4. */
class RaftJointConsensusTest {
  @Test
  void allVotersCanBeReplacedInOneChange_4_3() {
    ManualCluster world = new ManualCluster(3, 0, 3).elect(1);
    world.boot(4);
    world.boot(5);
    world.boot(6);
    world.change(
        world.node(1),
        change(ADD_VOTER, 4),
        change(ADD_VOTER, 5),
        change(ADD_VOTER, 6),
        change(REMOVE, 1),
        change(REMOVE, 2),
        change(REMOVE, 3));
    world.pass(100);
    Membership after = world.leader().core().membership();
    assertThat(after.voters()).isEqualTo(ids(4, 5, 6));
    assertThat(after.removed()).isEqualTo(ids(1, 2, 3));
    assertThat(after.isTransitionComplete()).isTrue();
    for (int i = 1; i <= 3; i++) {
      assertThat(world.node(i).removed).as("member " + i + " knows").isTrue();
    }
    assertThat(world.isWritable(world.leader(), "x")).isTrue();
  }

  /** The leader crashes after each single step of a change, and stays down for a while. */
  @Test
  void leaderMayCrashAtAnyStepOfChange_4_3() {
    boolean finishedEarly = false;
    int old = 0;
    for (int steps = 0; !finishedEarly; steps++) {
      assertThat(steps).as("the change never completes").isLessThan(1000);
      ManualCluster world = new ManualCluster(3, 0, 2).elect(1);
      world.boot(4);
      world.boot(5);
      world.change(
          world.node(1),
          change(ADD_VOTER, 4),
          change(ADD_VOTER, 5),
          change(REMOVE, 1),
          change(REMOVE, 2));
      finishedEarly = true;
      for (int i = 0; i < steps && world.node(1).isUp(); i++) {
        world.step();
        finishedEarly = !world.node(1).isUp();
      }
      if (world.node(1).isUp()) {
        finishedEarly = false;
        world.node(1).crash(0);
        // Every second time its messages are lost too.
        NodeId dead = new NodeId(1);
        boolean lost = steps % 2 == 0;
        world.cluster.network.removeIf(flight -> lost && flight.from().equals(dead));
      }
      world.pass(100);
      if (!world.node(1).removed) {
        world.boot(1);
      }
      world.pass(100);
      Membership after = world.leader().core().membership();
      assertThat(after.isTransitionComplete()).as("steps " + steps + " " + after).isTrue();
      assertThat(after.voters()).as("steps " + steps).isIn(ids(1, 2, 3), ids(3, 4, 5));
      old += after.voters().contains(new NodeId(1)) ? 1 : 0;
      assertThat(world.isWritable(world.leader(), "after" + steps)).as("steps " + steps).isTrue();
    }
    assertThat(old).as("sometimes the change was lost").isPositive();
  }

  @Test
  void jointMembershipCommitsWithBothMajorities_4_3() {
    ManualCluster world = new ManualCluster(3, 0, 2).elect(1);
    world.boot(4);
    world.boot(5);
    world.change(world.node(1), change(ADD_VOTER, 4), change(ADD_VOTER, 5));
    while (!world.node(1).core().membership().isJoint()) {
      assertThat(world.step()).isTrue();
    }
    // Three of the five incoming voters, but one of the three outgoing ones.
    world.cut(2, 3);
    world.pass(5);
    assertThat(world.node(1).core().membership().isJoint()).isTrue();
    assertThat(world.isWritable(world.node(1), "x")).isFalse();
    world.heal();
    world.pass(60);
    assertThat(world.leader().core().membership().isTransitionComplete()).isTrue();
  }

  @Test
  void jointMembershipElectsWithBothMajorities_4_3() {
    ManualCluster world = new ManualCluster(3, 0, 3).elect(1);
    for (int i = 4; i <= 6; i++) {
      world.boot(i);
    }
    world.change(
        world.node(1),
        change(ADD_VOTER, 4),
        change(ADD_VOTER, 5),
        change(ADD_VOTER, 6),
        change(REMOVE, 1),
        change(REMOVE, 2),
        change(REMOVE, 3));
    while (!world.node(1).core().membership().isJoint()) {
      assertThat(world.step()).isTrue();
    }
    // The next entry reaches the incoming voters, but not a majority of the outgoing ones.
    world.cut(2, 3);
    world.pass(5);
    for (int i = 4; i <= 6; i++) {
      assertThat(world.node(i).core().membership().isJoint()).isTrue();
      assertThat(world.node(i).core().conf.isChangePending()).isTrue();
    }
    world.cut(1);
    world.pass(60);
    for (int i = 4; i <= 6; i++) {
      assertThat(world.status(i).role()).as("member " + i).isNotEqualTo(RaftRole.LEADER);
    }
    world.heal();
    world.pass(100);
    assertThat(world.leader().core().membership().voters()).isEqualTo(ids(4, 5, 6));
  }

  /** Its log is longer than that of the only remaining voter, so it cannot vote for that one. */
  @Test
  void leavingMemberMayLeadAgain_4_2_2() {
    ManualCluster world = new ManualCluster(1, 0, 1);
    world.settle();
    world.boot(2);
    world.change(world.node(1), change(ADD_VOTER, 2), change(REMOVE, 1));
    while (world.node(1).core().membership().leaving().isEmpty()) {
      assertThat(world.step()).isTrue();
    }
    world.cut(2);
    world.cluster.propose(world.node(1), List.of("a", "b"));
    world.settle();
    world.node(1).crash(0);
    world.boot(1);
    assertThat(world.node(1).core().membership().leaving()).isEqualTo(ids(1));
    assertThat(world.node(2).core().membership().isJoint()).isTrue();
    world.heal();
    world.pass(60);
    assertThat(world.node(1).removed).isTrue();
    assertThat(world.isWritable(world.node(2), "alone")).isTrue();
  }

  @Test
  void soleMemberAddsVoterBeforeItStarts_M5() {
    ManualCluster world = new ManualCluster(1, 0, 1);
    world.settle();
    world.change(world.node(1), change(ADD_VOTER, 2));
    world.settle();
    assertThat(world.node(1).appliedMembership().voters())
        .as("applied, so the client has its reply")
        .isEqualTo(ids(1, 2));
    assertThat(world.isWritable(world.node(1), "waits")).isFalse();
    world.boot(2);
    world.pass(30);
    assertThat(world.leader().core().membership().isTransitionComplete()).isTrue();
    assertThat(world.isWritable(world.leader(), "continues")).isTrue();
    assertThat(world.node(2).core().membership().voters()).isEqualTo(ids(1, 2));
  }

  @Test
  void removedLeaderContinuesUntilRemainingVotersDoNotNeedIt_4_2_2() {
    ManualCluster world = new ManualCluster(3, 0, 0).elect(1);
    world.change(world.node(1), change(REMOVE, 1));
    world.settle();
    assertThat(world.node(1).removed).isTrue();
    assertThat(world.leader().id.value())
        .as("leadership transferred, no member waited")
        .isNotEqualTo(1);
    assertThat(world.leader().core().membership().voters()).isEqualTo(ids(2, 3));
  }

  @Test
  void remainingVotersDoNotNeedRemovedOnesEvenAfterCrash() {
    ManualCluster world = new ManualCluster(2, 0, 0).elect(1);
    world.change(world.node(1), change(REMOVE, 2));
    while (!world.node(2).removed) {
      assertThat(world.step()).as("removal completes").isTrue();
    }
    world.node(1).crash(0);
    world.boot(1);
    world.pass(30);
    assertThat(world.leader().id.value()).isEqualTo(1);
    assertThat(world.isWritable(world.node(1), "alone")).isTrue();
  }

  @Test
  void readWaitingForLeavingMemberIsReleased() {
    ManualCluster world = new ManualCluster(2, 0, 0).elect(1);
    world.node(1).read(1);
    world.cluster.network.removeIf(flight -> flight.message() instanceof PeerMessage.Heartbeat);
    world.change(world.node(1), change(REMOVE, 2));
    world.settle();
    assertThat(world.node(1).core().membership().members()).isEqualTo(ids(1));
    assertThat(world.node(1).releasedReads).containsKey(1L);
  }

  @Test
  void uncommittedChangeIsDropped() {
    ManualCluster world = new ManualCluster(3, 0, 2).elect(1);
    world.cut(1);
    world.change(world.node(1), change(ADD_VOTER, 4), change(ADD_VOTER, 5));
    world.settle();
    assertThat(world.node(1).core().conf.isChangePending()).isTrue();
    assertThat(world.node(1).core().membership().voters()).as("not before").isEqualTo(ids(1, 2, 3));
    world.elect(2);
    world.heal();
    world.pass(30);
    assertThat(world.node(1).core().conf.isChangePending()).isFalse();
    assertThat(world.node(1).core().membership().isTransitionComplete())
        .as("not joint after all")
        .isTrue();
    world.change(world.leader(), change(ADD_LEARNER, 4));
    world.settle();
    for (int i = 1; i <= 3; i++) {
      assertThat(world.node(i).core().membership().voters()).isEqualTo(ids(1, 2, 3));
      assertThat(world.node(i).core().membership().learners()).isEqualTo(ids(4));
    }
  }

  @Test
  void leadersOfDifferentMembershipsCannotBothCommit_4_2_1() {
    ManualCluster world = new ManualCluster(3, 0, 2).elect(1);
    world.boot(4);
    world.boot(5);
    world.cut(1);
    world.change(world.node(1), change(ADD_VOTER, 4), change(ADD_VOTER, 5));
    world.elect(2);
    assertThat(world.status(2).role()).isEqualTo(RaftRole.LEADER);
    world.change(world.node(2), change(REMOVE, 1));
    world.settle();
    assertThat(world.node(2).core().membership().voters()).isEqualTo(ids(2, 3));
    long commit = world.status(1).commit();
    // The old leader reaches its new members, but not the old ones.
    world.heal();
    world.cut(2, 3);
    world.settle();
    world.pass(5);
    assertThat(world.status(1).commit()).isEqualTo(commit);
    world.heal();
    world.pass(60);
    assertThat(world.leader().core().membership().voters()).isEqualTo(ids(2, 3));
    assertThat(world.node(1).removed).isTrue();
  }

  @Test
  void oneChangeAtATimeAndOnlyAfterEntryOfTerm_4_1() {
    ManualCluster world = new ManualCluster(3, 0, 2).elect(1);
    world.cut(2, 3);
    world.change(world.node(1), change(ADD_VOTER, 4));
    long last = world.status(1).lastIndex();
    world.change(world.node(1), change(ADD_VOTER, 5));
    assertThat(world.status(1).lastIndex()).isEqualTo(last);
    world.heal();
    world.pass(5);
    assertThat(world.status(1).lastIndex())
        .as("left the joint membership by itself")
        .isEqualTo(last + 1);
    world.change(world.node(1), change(ADD_VOTER, 5));
    world.settle();
    assertThat(world.node(1).core().membership().voters()).isEqualTo(ids(1, 2, 3, 4, 5));
  }

  @Test
  void removedMemberThatMissedItsRemovalDisturbsNoMemberAndLearnsIt_4_2_3() {
    ManualCluster world = new ManualCluster(3, 0, 0).elect(1);
    world.cut(3);
    world.change(world.node(1), change(REMOVE, 3));
    world.settle();
    assertThat(world.node(3).removed).isFalse();
    world.pass(25);
    long term = world.status(1).term();
    world.heal();
    world.pass(25);
    assertThat(world.node(3).removed).isTrue();
    assertThat(world.status(1).role()).isEqualTo(RaftRole.LEADER);
    assertThat(world.status(1).term()).isEqualTo(term);
  }

  @Test
  void removedLearnerThatMissedItsRemovalProbesAndLearnsIt() {
    ManualCluster world = new ManualCluster(1, 1, 0);
    world.pass(5);
    world.cut(2);
    world.change(world.node(1), change(REMOVE, 2));
    world.settle();
    world.heal();
    world.pass(25);
    assertThat(world.node(2).removed).isTrue();
  }

  @Test
  void promotedLearnerIsInSnapshot() {
    ManualCluster world = new ManualCluster(1, 0, 2);
    world.boot(2);
    world.settle();
    world.change(world.node(1), change(ADD_LEARNER, 2));
    world.pass(5);
    world.change(world.node(1), change(PROMOTE, 2));
    world.pass(5);
    Membership promoted = world.node(1).core().membership();
    assertThat(promoted.voters()).isEqualTo(ids(1, 2));
    assertThat(promoted.learners()).isEmpty();
    world.node(1).flushMachine();
    world.node(1).compact(world.status(1).applied());
    world.boot(3);
    world.change(world.node(1), change(ADD_LEARNER, 3));
    world.pass(15);
    assertThat(world.cluster.snapshots).isPositive();
    assertThat(world.node(3).core().membership().voters()).isEqualTo(ids(1, 2));
    assertThat(world.status(3).applied()).isEqualTo(world.status(1).applied());
    world.node(3).crash(0);
    world.boot(3);
    world.pass(15);
    assertThat(world.node(3).core().membership().learners()).isEqualTo(ids(3));
  }

  @Test
  void learnersDoNotCountForQuorum_M12() {
    ManualCluster world = new ManualCluster(2, 2, 0).elect(1);
    world.cut(2);
    assertThat(world.isWritable(world.node(1), "x")).isFalse();
    world.pass(30);
    assertThat(world.status(1).role()).isNotEqualTo(RaftRole.LEADER);
  }

  private static Set<NodeId> ids(long... ids) {
    Set<NodeId> set = new TreeSet<>();
    for (long id : ids) {
      set.add(new NodeId(id));
    }
    return set;
  }

  @Test
  void promotionOfLaggingLearnerIsRefused_M8() {
    ManualCluster world = new ManualCluster(1, 0, 1);
    world.settle();
    world.change(world.node(1), change(ADD_LEARNER, 2));
    world.settle();
    long last = world.status(1).lastIndex();
    world.change(world.node(1), new ConfChange(PROMOTE, new NodeId(2)));
    assertThat(world.status(1).lastIndex()).isEqualTo(last);
    world.boot(2);
    world.pass(5);
    world.change(world.node(1), new ConfChange(PROMOTE, new NodeId(2)));
    assertThat(world.status(1).lastIndex()).isEqualTo(last + 1);
  }
}
