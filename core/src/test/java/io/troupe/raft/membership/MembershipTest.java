package io.troupe.raft.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.NodeId;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MembershipTest {
  private static final NodeId A = new NodeId(0xa);
  private static final NodeId B = new NodeId(0xb);
  private static final NodeId C = new NodeId(0xc);

  @Test
  void oneChangeLeadsToTheNextMembership_M1_M6_M8() {
    Membership one = Membership.ofVoters(A);
    Membership learner = one.with(change(ConfChange.Kind.ADD_LEARNER, B));
    assertThat(learner).isEqualTo(new Membership(Set.of(A), Set.of(B)));
    Membership promoted = learner.with(change(ConfChange.Kind.ADD_VOTER, B));
    assertThat(promoted).isEqualTo(Membership.ofVoters(B, A));
    assertThat(promoted.with(change(ConfChange.Kind.UPDATE, A))).isEqualTo(promoted);
    assertThat(promoted.with(change(ConfChange.Kind.REMOVE, A))).isEqualTo(Membership.ofVoters(B));
    assertThat(learner.with(change(ConfChange.Kind.REMOVE, B))).isEqualTo(one);
  }

  @Test
  void changesWithoutSenseAreRefused_M6() {
    Membership two = Membership.ofVoters(A, B);
    assertNoSense(two, ConfChange.Kind.ADD_VOTER, A);
    assertNoSense(two, ConfChange.Kind.ADD_LEARNER, A);
    assertNoSense(two, ConfChange.Kind.REMOVE, C);
    assertNoSense(two, ConfChange.Kind.UPDATE, C);
    assertNoSense(Membership.ofVoters(A), ConfChange.Kind.REMOVE, A);
  }

  @Test
  void nobodyIsVoterAndLearnerAtOnce() {
    assertThatThrownBy(() -> new Membership(Set.of(A), Set.of(A)))
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
    for (ConfChange.Kind kind : ConfChange.Kind.values()) {
      assertThat(ConfChange.Kind.ofCode(kind.code())).isEqualTo(kind);
    }
    assertThatThrownBy(() -> ConfChange.Kind.ofCode(9))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static ConfChange change(ConfChange.Kind kind, NodeId member) {
    return new ConfChange(kind, member);
  }

  private static void assertNoSense(Membership membership, ConfChange.Kind kind, NodeId member) {
    assertThatThrownBy(() -> membership.with(change(kind, member)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
