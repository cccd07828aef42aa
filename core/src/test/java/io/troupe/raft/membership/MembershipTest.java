package io.troupe.raft.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.JointQuorum;
import io.troupe.raft.quorum.MajorityQuorum;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MembershipTest {
  private static final NodeId A = new NodeId(0xa);
  private static final NodeId B = new NodeId(0xb);
  private static final NodeId C = new NodeId(0xc);
  private static final Set<NodeId> NONE = Set.of();

  @Test
  void changesOfVotersAreJoint_4_3() {
    Membership one = Membership.ofVoters(A);
    Membership joint = one.after(List.of(add(B), add(C)), 5);
    assertThat(joint).isEqualTo(new Membership(5, Set.of(A, B, C), NONE, Set.of(A), NONE, NONE));
    assertThat(joint.quorum()).isInstanceOf(JointQuorum.class);
    assertThat(joint.isTransitionComplete()).isFalse();
    assertThat(joint.next(6)).isEqualTo(new Membership(6, Set.of(A, B, C), NONE, NONE, NONE, NONE));
    assertThat(joint.next(6).quorum()).isInstanceOf(MajorityQuorum.class);
  }

  @Test
  void leavingVotersAreMembersForOneMoreEntryThenRemoved_M6() {
    Membership two = Membership.ofVoters(A, B);
    Membership joint = two.after(List.of(change(ConfChange.Kind.REMOVE, A)), 5);
    assertThat(joint).isEqualTo(new Membership(5, Set.of(B), NONE, Set.of(A, B), NONE, NONE));
    assertThat(joint.isVoter(A)).isTrue();
    Membership leaving = joint.next(6);
    assertThat(leaving).isEqualTo(new Membership(6, Set.of(B), NONE, NONE, Set.of(A), NONE));
    assertThat(leaving.isVoter(A)).isFalse();
    assertThat(leaving.members()).containsExactly(A, B);
    Membership gone = leaving.next(7);
    assertThat(gone).isEqualTo(new Membership(7, Set.of(B), NONE, NONE, NONE, Set.of(A)));
    assertThat(gone.isTransitionComplete()).isTrue();
    assertThat(gone.refusalOf(List.of(add(A)))).isEqualTo(Refusal.MEMBER_ID_EXISTS);
    assertThatThrownBy(() -> gone.next(8)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void changesOfLearnersAreNotJoint_M1_M8() {
    Membership one = Membership.ofVoters(A);
    Membership learner = one.after(List.of(change(ConfChange.Kind.ADD_LEARNER, B)), 5);
    assertThat(learner).isEqualTo(new Membership(5, Set.of(A), Set.of(B), NONE, NONE, NONE));
    Membership promoted = learner.after(List.of(change(ConfChange.Kind.PROMOTE, B)), 6);
    assertThat(promoted).isEqualTo(new Membership(6, Set.of(A, B), NONE, Set.of(A), NONE, NONE));
    assertThat(learner.after(List.of(change(ConfChange.Kind.REMOVE, B)), 6))
        .isEqualTo(new Membership(6, Set.of(A), NONE, NONE, NONE, Set.of(B)));
    assertThat(learner.after(List.of(change(ConfChange.Kind.UPDATE, B)), 6))
        .isEqualTo(new Membership(6, Set.of(A), Set.of(B), NONE, NONE, NONE));
  }

  @Test
  void invalidChangesAreRefused_M2_M6_M8() {
    Membership some = new Membership(Set.of(A), Set.of(B));
    assertThat(some.refusalOf(List.of(add(A)))).isEqualTo(Refusal.MEMBER_ID_EXISTS);
    assertThat(some.refusalOf(List.of(add(B)))).isEqualTo(Refusal.MEMBER_ID_EXISTS);
    assertRefused(some, ConfChange.Kind.REMOVE, C, Refusal.MEMBER_NOT_FOUND);
    assertRefused(some, ConfChange.Kind.UPDATE, C, Refusal.MEMBER_NOT_FOUND);
    assertRefused(some, ConfChange.Kind.PROMOTE, C, Refusal.MEMBER_NOT_FOUND);
    assertRefused(some, ConfChange.Kind.PROMOTE, A, Refusal.NOT_A_LEARNER);
    assertRefused(some, ConfChange.Kind.REMOVE, A, Refusal.NOT_ENOUGH_STARTED_MEMBERS);
    assertThat(some.refusalOf(List.of(add(C), change(ConfChange.Kind.REMOVE, C))))
        .as("a member twice")
        .isEqualTo(Refusal.MEMBER_ID_EXISTS);
    assertThat(some.refusalOf(List.of(change(ConfChange.Kind.REMOVE, A), add(C))))
        .as("replaced by another member")
        .isNull();
    Membership joint = some.after(List.of(add(C)), 3);
    assertThat(joint.refusalOf(List.of(change(ConfChange.Kind.UPDATE, A))))
        .isEqualTo(Refusal.TOO_MANY_REQUESTS);
    assertThat(joint.next(4).refusalOf(List.of(change(ConfChange.Kind.UPDATE, A)))).isNull();
  }

  @Test
  void rejectsMemberWithTwoParts() {
    assertThatThrownBy(() -> new Membership(Set.of(A), Set.of(A)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Membership(1, Set.of(A), NONE, NONE, NONE, Set.of(A)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Membership(1, Set.of(A), NONE, NONE, Set.of(A), NONE))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> Membership.ofVoters(NodeId.NONE))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void membersIterateInAscendingUnsignedOrder() {
    NodeId high = new NodeId(-1);
    assertThat(Membership.ofVoters(high, C, A, B).voters()).containsExactly(A, B, C, high);
  }

  @Test
  void kindsKeepTheirNumbers() {
    assertThat(List.of(ConfChange.Kind.values()).stream().map(ConfChange.Kind::code))
        .containsExactly(0, 1, 2, 3, 4);
    for (ConfChange.Kind kind : ConfChange.Kind.values()) {
      assertThat(ConfChange.Kind.ofCode(kind.code())).isEqualTo(kind);
    }
    assertThatThrownBy(() -> ConfChange.Kind.ofCode(9))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static ConfChange add(NodeId member) {
    return change(ConfChange.Kind.ADD_VOTER, member);
  }

  private static ConfChange change(ConfChange.Kind kind, NodeId member) {
    return new ConfChange(kind, member);
  }

  private static void assertRefused(
      Membership membership, ConfChange.Kind kind, NodeId member, Refusal refusal) {
    assertThat(membership.refusalOf(List.of(change(kind, member)))).isEqualTo(refusal);
    assertThatThrownBy(() -> membership.after(List.of(change(kind, member)), 9))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
