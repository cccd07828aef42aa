package io.troupe.raft;

import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.RecordingEffects.MembershipChanged;
import io.troupe.raft.RecordingEffects.Reject;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Membership changes that a leader accepts, and when they take effect. */
class RaftConfChangeTest {
  private static final ConfChange ADD =
      new ConfChange(ConfChange.Kind.ADD_LEARNER, new NodeId(7), List.of("http://h:1"));

  private static ConfProposal proposal(String name, long basis) {
    return new ConfProposal(id(name), List.of(ADD), basis);
  }

  @Test
  void newLeaderRefusesChangesBeforeItsFirstEntryIsCommitted_4_1() {
    RaftFixture one = RaftFixture.fresh(3).lead();
    one.effects.take();
    one.core.proposeConfChange(proposal("a", 0));
    assertThat(one.effects.take()).containsExactly(new Reject(id("a"), Refusal.TOO_MANY_REQUESTS));
    one.durable();
    one.ack(TWO, 1);
    one.core.applied(1);
    one.effects.take();
    one.core.proposeConfChange(proposal("b", 0));
    assertThat(one.effects.take(Reject.class)).isEmpty();
  }

  @Test
  void changeCheckedAgainstAnotherMembershipIsRefused() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.proposeConfChange(proposal("a", 1));
    assertThat(one.effects.take()).containsExactly(new Reject(id("a"), Refusal.TOO_MANY_REQUESTS));
  }

  @Test
  void takesEffectAtCommitAndAllowsNextChangeAfterApply() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.proposeConfChange(proposal("a", 0));
    assertThat(one.core.membership()).isEqualTo(RaftFixture.voters(3));
    one.durable();
    one.effects.take();
    one.ack(TWO, 2);
    Membership after = RaftFixture.voters(3).after(List.of(ADD), 2);
    assertThat(one.core.membership()).isEqualTo(after);
    assertThat(one.effects.take()).contains(new MembershipChanged(after));
    one.core.proposeConfChange(
        new ConfProposal(
            id("b"), List.of(new ConfChange(ConfChange.Kind.REMOVE, new NodeId(7))), 2));
    assertThat(one.effects.take(Reject.class)).as("not applied yet").hasSize(1);
    one.core.applied(2);
    one.core.proposeConfChange(
        new ConfProposal(
            id("c"), List.of(new ConfChange(ConfChange.Kind.REMOVE, new NodeId(7))), 2));
    assertThat(one.effects.take(Reject.class)).isEmpty();
  }

  @Test
  void newMembersCountAsActiveUntilNextQuorumCheck_6_2() {
    RaftFixture one = RaftFixture.fresh(1);
    one.durable();
    one.durable();
    one.core.applied(1);
    one.ticks(SETTINGS.electionTicks() - 1);
    one.core.proposeConfChange(
        new ConfProposal(id("a"), List.of(new ConfChange(ConfChange.Kind.ADD_VOTER, TWO)), 0));
    one.durable();
    assertThat(one.core.membership().isJoint()).isTrue();
    one.ticks(1);
    assertThat(one.core.status().role()).isEqualTo(RaftRole.LEADER);
    one.ticks(SETTINGS.electionTicks());
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
  }

  @Test
  void followerForwardsAndLeaderAcceptsOnce() {
    RaftFixture follower = RaftFixture.withLog(1);
    follower.core.proposeConfChange(proposal("early", 0));
    assertThat(follower.effects.take()).containsExactly(new Reject(id("early"), Refusal.NO_LEADER));
    follower.core.receive(TWO, new PeerMessage.Heartbeat(1, 0, 0));
    follower.effects.take();
    follower.core.proposeConfChange(proposal("a", 0));
    PeerMessage forwarded = follower.sentTo(TWO).get(0);

    RaftFixture leader = RaftFixture.fresh(3).leadAndCommit();
    leader.core.receive(TWO, forwarded);
    leader.core.receive(TWO, forwarded);
    assertThat(leader.core.status().lastIndex()).isEqualTo(2);
    assertThat(leader.sentTo(TWO)).noneMatch(PeerMessage.ProposalsRejected.class::isInstance);
    leader.core.receive(TWO, new PeerMessage.ForwardedConfChange(1, 5, 1, proposal("b", 0)));
    assertThat(leader.sentTo(TWO))
        .containsExactly(
            new PeerMessage.ProposalsRejected(1, List.of(id("b")), Refusal.TOO_MANY_REQUESTS));
  }

  @Test
  void refusedDuringTransferAndIfInvalid() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.proposeConfChange(
        new ConfProposal(id("x"), List.of(new ConfChange(ConfChange.Kind.ADD_VOTER, TWO)), 0));
    assertThat(one.effects.take()).containsExactly(new Reject(id("x"), Refusal.MEMBER_ID_EXISTS));
    one.core.transferLeadership(TWO);
    one.effects.take();
    one.core.proposeConfChange(proposal("a", 0));
    assertThat(one.effects.take()).containsExactly(new Reject(id("a"), Refusal.LEADER_CHANGED));
  }

  @Test
  void twoChangesInFlightStopMember() {
    RaftFixture one = RaftFixture.withLog(1);
    Membership first = RaftFixture.voters(3).after(List.of(ADD), 1);
    Membership second = RaftFixture.voters(3).after(List.of(ADD), 2);
    assertThatThrownBy(() -> one.append(1, 0, 0, 0, conf(first), conf(second)))
        .isInstanceOf(Invariant.Broken.class);
    RaftFixture other = RaftFixture.withLog(1);
    other.append(1, 0, 0, 1, conf(first), conf(second));
    assertThat(other.core.membership()).as("the first one is committed").isEqualTo(first);
  }

  @Test
  void restartRestoresMembershipOfItsCommitIndex() {
    RaftState state =
        RaftState.bootstrap(
            RaftFixture.ONE,
            List.of(
                new ConfChange(ConfChange.Kind.ADD_VOTER, RaftFixture.ONE),
                new ConfChange(ConfChange.Kind.ADD_VOTER, TWO)));
    RaftFixture one = new RaftFixture(state, SETTINGS);
    assertThat(one.core.membership().voters()).containsExactly(RaftFixture.ONE, TWO);
    assertThat(one.core.membership().isTransitionComplete()).isTrue();
    assertThat(one.core.status().role()).isEqualTo(RaftRole.FOLLOWER);
  }

  @Test
  void laterChangeInLogProvesEarlierOneEvenIfCommitIndexWasLost() {
    Membership first = RaftFixture.voters(3).after(List.of(ADD), 1);
    Membership second =
        first.after(List.of(new ConfChange(ConfChange.Kind.REMOVE, new NodeId(7))), 2);
    RaftFixture one =
        new RaftFixture(
            new RaftState(
                RaftFixture.ONE,
                new HardState(1, NodeId.NONE, 0),
                RaftFixture.voters(3),
                0,
                0,
                List.of(conf(first), conf(second)),
                0),
            SETTINGS);
    assertThat(one.core.membership()).isEqualTo(first);
    assertThat(one.core.status().commit()).isEqualTo(1);
    assertThat(one.core.conf.isChangePending()).isTrue();
  }

  private static Entry conf(Membership membership) {
    return new Entry(
        1,
        membership.version(),
        Entry.Kind.CONF_CHANGE,
        MembershipCodec.encode(new ConfEntry(id("m"), List.of(ADD), membership)));
  }
}
