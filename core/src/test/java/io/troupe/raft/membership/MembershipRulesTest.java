package io.troupe.raft.membership;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.membership.MembershipRules.Facts;
import io.troupe.raft.membership.MembershipRules.Limits;
import io.troupe.raft.membership.MembershipRules.Liveness;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Statements M1 to M8 and M12 of the etcd surface. */
class MembershipRulesTest {
  private static final NodeId SELF = new NodeId(1);
  private static final NodeId NEW = new NodeId(77);
  private static final Limits STRICT = new Limits(true, 1);
  private static final Limits LAX = new Limits(false, 1);

  @Test
  void rejectsUrlOfAnotherMember_M1_M7() {
    Facts facts = facts(3, 3);
    assertThat(add(facts, voter("http://n2"), STRICT, all(3))).isEqualTo(Refusal.PEER_URL_EXISTS);
    assertThat(add(facts, voter("http://new"), STRICT, all(3))).isNull();
    assertThat(MembershipRules.refuseUpdate(facts, update(2, "http://n3")))
        .isEqualTo(Refusal.PEER_URL_EXISTS);
    assertThat(MembershipRules.refuseUpdate(facts, update(2, "http://n2"))).isNull();
    assertThat(MembershipRules.refuseUpdate(facts, update(9, "http://n2")))
        .isEqualTo(Refusal.MEMBER_NOT_FOUND);
  }

  @Test
  void rejectsIdOfCurrentOrRemovedMember_M2_M6() {
    ConfChange again =
        new ConfChange(ConfChange.Kind.ADD_VOTER, new NodeId(2), List.of("http://x"));
    assertThat(add(facts(3, 3), again, STRICT, all(3))).isEqualTo(Refusal.MEMBER_ID_EXISTS);
    Membership left =
        new Membership(5, Set.of(SELF), Set.of(), Set.of(), Set.of(), Set.of(new NodeId(2)));
    Facts facts = new Facts(left, Map.of(), Set.of(SELF));
    assertThat(add(facts, again, STRICT, all(1))).isEqualTo(Refusal.MEMBER_ID_EXISTS);
  }

  @Test
  void allowsOneLearner_M4() {
    Facts facts = withLearner(facts(3, 3));
    assertThat(add(facts, learner("http://new"), LAX, all(3))).isEqualTo(Refusal.TOO_MANY_LEARNERS);
    assertThat(add(facts, learner("http://new"), new Limits(false, 2), all(3))).isNull();
    assertThat(add(facts(3, 3), learner("http://new"), STRICT, all(3))).isNull();
  }

  @Test
  void addedVoterNeedsQuorumOfStartedVoters_M5() {
    assertThat(add(facts(3, 2), voter("http://new"), STRICT, all(3)))
        .isEqualTo(Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(add(facts(3, 2), voter("http://new"), LAX, all(0))).isNull();
    assertThat(add(facts(1, 1), voter("http://new"), STRICT, all(1)))
        .as("a single member may grow")
        .isNull();
    assertThat(add(facts(2, 1), voter("http://new"), STRICT, all(2)))
        .isEqualTo(Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(add(facts(3, 2), learner("http://new"), STRICT, all(3)))
        .as("learners do not vote")
        .isNull();
  }

  @Test
  void addNeedsSteadyConnectionsToQuorumWithNewMemberDown_M5() {
    Facts facts = facts(3, 3);
    Liveness two = new Liveness(ids(3), ids(2));
    assertThat(add(facts, voter("http://new"), STRICT, two)).isEqualTo(Refusal.UNHEALTHY_CLUSTER);
    assertThat(add(facts, learner("http://new"), STRICT, two)).isEqualTo(Refusal.UNHEALTHY_CLUSTER);
    assertThat(add(facts, voter("http://n2"), STRICT, two))
        .as("before the addresses are checked")
        .isEqualTo(Refusal.UNHEALTHY_CLUSTER);
    assertThat(add(facts, voter("http://new"), LAX, two)).isNull();
  }

  @Test
  void removalMustLeaveQuorumOfStartedAndReachableVoters_M6() {
    assertThat(remove(facts(1, 1), 1, STRICT, all(1)))
        .isEqualTo(Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(remove(facts(1, 1), 1, LAX, all(1))).isEqualTo(Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(remove(facts(3, 2), 2, STRICT, all(3)))
        .isEqualTo(Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(remove(facts(3, 3), 9, STRICT, all(3))).isEqualTo(Refusal.MEMBER_NOT_FOUND);
    assertThat(remove(facts(3, 3), 2, STRICT, all(3))).isNull();
    Liveness threeIsDown = new Liveness(ids(2), ids(2));
    assertThat(remove(facts(3, 3), 3, STRICT, threeIsDown))
        .as("a stopped voter may be removed")
        .isNull();
    assertThat(remove(facts(3, 3), 2, STRICT, threeIsDown)).isEqualTo(Refusal.UNHEALTHY_CLUSTER);
    assertThat(remove(facts(3, 3), 1, STRICT, threeIsDown))
        .as("the checking member itself")
        .isEqualTo(Refusal.UNHEALTHY_CLUSTER);
    assertThat(remove(facts(3, 3), 1, STRICT, all(3))).isNull();
    assertThat(remove(facts(3, 3), 2, LAX, threeIsDown)).isNull();
    assertThat(remove(withLearner(facts(3, 1)), 50, STRICT, threeIsDown))
        .as("learners always")
        .isNull();
  }

  @Test
  void promotionNeedsLearnerInSync_M8() {
    Facts facts = withLearner(facts(3, 3));
    assertThat(promote(facts, 9, 100, 100)).isEqualTo(Refusal.MEMBER_NOT_FOUND);
    assertThat(promote(facts, 50, 89, 100)).isEqualTo(Refusal.LEARNER_NOT_READY);
    assertThat(promote(facts, 50, 90, 100)).isNull();
    assertThat(promote(facts, 2, 100, 100)).isEqualTo(Refusal.NOT_A_LEARNER);
    assertThat(promote(facts, 2, 10, 100))
        .as("in etcd's order")
        .isEqualTo(Refusal.LEARNER_NOT_READY);
    assertThat(promote(withLearner(facts(3, 1)), 50, 100, 100))
        .isEqualTo(Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(promote(withLearner(facts(1, 1)), 50, 100, 100)).isNull();
  }

  @Test
  void addressesFollowEntriesAndLeavingVoterKeepsItsAddress() {
    Membership one = Membership.ofVoters(SELF);
    Map<NodeId, List<String>> urls = Map.of(SELF, List.of("http://n1"));
    ConfChange swap = voter("http://new");
    List<ConfChange> changes = List.of(swap, new ConfChange(ConfChange.Kind.REMOVE, SELF));
    ConfEntry enter = new ConfEntry(null, changes, one.after(changes, 5));
    assertThat(enter.isComplete()).isFalse();
    assertThat(enter.effective()).containsExactly(swap);
    urls = MembershipRules.peerUrlsAfter(urls, enter);
    assertThat(urls.keySet()).containsExactly(SELF, NEW);
    ConfEntry leave = ConfEntry.following(enter.after(), 6);
    urls = MembershipRules.peerUrlsAfter(urls, leave);
    assertThat(urls.keySet()).containsExactly(SELF, NEW);
    ConfEntry gone = ConfEntry.following(leave.after(), 7);
    assertThat(gone.after().isTransitionComplete()).isTrue();
    assertThat(MembershipRules.peerUrlsAfter(urls, gone))
        .isEqualTo(Map.of(NEW, List.of("http://new")));
  }

  // ---- notation

  private static @Nullable Refusal add(Facts facts, ConfChange add, Limits limits, Liveness alive) {
    return MembershipRules.refuseAdd(facts, add, limits, alive);
  }

  private static @Nullable Refusal remove(Facts facts, long id, Limits limits, Liveness alive) {
    return MembershipRules.refuseRemove(facts, new NodeId(id), limits, alive);
  }

  private static @Nullable Refusal promote(Facts facts, long id, long match, long leaderMatch) {
    return MembershipRules.refusePromote(facts, new NodeId(id), STRICT, match, leaderMatch);
  }

  private static Facts facts(int voters, int started) {
    Map<NodeId, List<String>> urls = new HashMap<>();
    ids(voters).forEach(id -> urls.put(id, List.of("http://n" + id)));
    return new Facts(new Membership(ids(voters), Set.of()), urls, ids(started));
  }

  private static Facts withLearner(Facts facts) {
    return new Facts(
        new Membership(facts.membership().voters(), Set.of(new NodeId(50))),
        facts.peerUrls(),
        facts.started());
  }

  private static Liveness all(int count) {
    return new Liveness(ids(count), ids(count));
  }

  private static Set<NodeId> ids(int count) {
    Set<NodeId> ids = new TreeSet<>();
    for (int i = 1; i <= count; i++) {
      ids.add(new NodeId(i));
    }
    return ids;
  }

  private static ConfChange voter(String url) {
    return new ConfChange(ConfChange.Kind.ADD_VOTER, NEW, List.of(url));
  }

  private static ConfChange learner(String url) {
    return new ConfChange(ConfChange.Kind.ADD_LEARNER, NEW, List.of(url));
  }

  private static ConfChange update(long id, String url) {
    return new ConfChange(ConfChange.Kind.UPDATE, new NodeId(id), List.of(url));
  }
}
