package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.noop;
import static io.troupe.raft.RaftFixture.proposals;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.RecordingEffects.Apply;
import io.troupe.raft.RecordingEffects.Send;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A member continues alone with its whole log (SN4). */
class ForcedClusterTest {
  private static final NodeId FOUR = new NodeId(4);

  private static RaftState found(long commit, long applied, Membership membership, long... terms) {
    return new RaftState(
        ONE, new HardState(7, TWO, commit), membership, 0, 0, RaftFixture.log(terms), applied);
  }

  private static ForcedCluster forced(RaftState found) {
    return ForcedCluster.of(found).orElseThrow();
  }

  private static ConfEntry conf(ForcedCluster forced) {
    return MembershipCodec.decodeEntry(forced.entry().data());
  }

  private static Entry conf(long term, Membership after) {
    return new Entry(
        term,
        after.version(),
        Entry.Kind.CONF_CHANGE,
        MembershipCodec.encode(new ConfEntry(null, List.of(), after)));
  }

  @Test
  void keepsWholeLogAndAppendsEntryThatRemovesOtherMembers() {
    ForcedCluster forced = forced(found(2, 1, RaftFixture.voters(3), 1, 1, 3, 5));
    assertThat(forced.removed()).containsExactly(TWO, THREE);
    assertThat(forced.assumed()).isEqualTo(2);
    assertThat(forced.state().hardState()).isEqualTo(new HardState(8, ONE, 5));
    assertThat(forced.state().entries().subList(0, 4)).isEqualTo(RaftFixture.log(1, 1, 3, 5));
    assertThat(forced.entry().term()).isEqualTo(8);
    assertThat(forced.entry().index()).isEqualTo(5);
    ConfEntry entry = conf(forced);
    assertThat(entry.changes())
        .containsExactly(
            new ConfChange(ConfChange.Kind.REMOVE, TWO),
            new ConfChange(ConfChange.Kind.REMOVE, THREE));
    assertThat(entry.effective()).as("in one entry").isEqualTo(entry.changes());
    assertThat(entry.after())
        .isEqualTo(
            new Membership(5, Set.of(ONE), Set.of(), Set.of(), Set.of(), Set.of(TWO, THREE)));
  }

  /**
   * The forced member needs no other member, sends nothing to removed members, and accepts
   * proposals.
   */
  @Test
  void forcedMemberLeadsImmediatelyAndAppliesEverything() {
    ForcedCluster forced = forced(found(1, 1, RaftFixture.voters(3), 1, 1, 3));
    RaftFixture alone = new RaftFixture(forced.state(), SETTINGS);
    alone.durable();
    alone.durable();
    alone.core.propose(proposals("new"));
    alone.durable();
    List<RecordingEffects.Effect> effects = alone.effects.take();
    assertThat(alone.core.status().role()).isEqualTo(RaftRole.LEADER);
    assertThat(alone.core.status().term()).isEqualTo(9);
    assertThat(effects).noneMatch(Send.class::isInstance);
    List<Entry> applied = new ArrayList<>();
    effects.stream()
        .filter(Apply.class::isInstance)
        .forEach(effect -> applied.addAll(((Apply) effect).committed()));
    assertThat(applied)
        .startsWith(forced.state().entries().get(1), forced.state().entries().get(2))
        .contains(forced.entry(), noop(9, 5));
    assertThat(applied).hasSize(5).last().extracting(Entry::index).isEqualTo(6L);
    assertThat(alone.core.membership().members()).containsExactly(ONE);
  }

  /** A member that returns with its old data learns that it was removed, and changes nothing. */
  @Test
  void formerMembersReceiveRemoved() {
    RaftFixture alone =
        new RaftFixture(forced(found(3, 3, RaftFixture.voters(3), 1, 1, 3)).state(), SETTINGS);
    alone.durable();
    alone.durable();
    alone.effects.take();
    long term = alone.core.status().term();
    for (PeerMessage message :
        List.of(
            new PeerMessage.RequestVote(99, false, 99, 98, true),
            new PeerMessage.Heartbeat(99, 4, 0))) {
      alone.core.receive(TWO, message);
      assertThat(alone.effects.take())
          .containsExactly(new Send(TWO, new PeerMessage.Removed(term)));
    }
    assertThat(alone.core.status().role()).isEqualTo(RaftRole.LEADER);
    assertThat(alone.core.status().term()).isEqualTo(term);
  }

  @Test
  void lastMembershipOfLogCountsEvenIfUncommitted() {
    Membership joint =
        new Membership(
            4, Set.of(ONE, TWO, FOUR), Set.of(), Set.of(ONE, TWO, THREE), Set.of(), Set.of());
    List<Entry> entries = new ArrayList<>(RaftFixture.log(1, 1, 3));
    entries.add(conf(3, joint));
    RaftState found =
        new RaftState(ONE, new HardState(3, ONE, 2), RaftFixture.voters(3), 0, 0, entries, 2);
    ForcedCluster forced = forced(found);
    assertThat(forced.removed()).containsExactly(TWO, THREE, FOUR);
    RaftFixture alone = new RaftFixture(forced.state(), SETTINGS);
    assertThat(alone.core.membership())
        .isEqualTo(
            new Membership(5, Set.of(ONE), Set.of(), Set.of(), Set.of(), Set.of(TWO, THREE, FOUR)));
  }

  @Test
  void learnerBecomesVoter() {
    Membership learning =
        new Membership(1, Set.of(TWO), Set.of(ONE), Set.of(), Set.of(), Set.of(FOUR));
    ConfEntry entry = conf(forced(found(1, 1, learning, 1)));
    assertThat(entry.changes())
        .containsExactly(
            new ConfChange(ConfChange.Kind.PROMOTE, ONE),
            new ConfChange(ConfChange.Kind.REMOVE, TWO));
    assertThat(entry.after())
        .isEqualTo(new Membership(2, Set.of(ONE), Set.of(), Set.of(), Set.of(), Set.of(TWO, FOUR)));
  }

  @Test
  void leavingVoterStays() {
    Membership leaving =
        new Membership(1, Set.of(TWO, THREE), Set.of(), Set.of(), Set.of(ONE), Set.of());
    assertThat(conf(forced(found(1, 1, leaving, 1))).after())
        .isEqualTo(
            new Membership(2, Set.of(ONE), Set.of(), Set.of(), Set.of(), Set.of(TWO, THREE)));
  }

  @Test
  void soleMemberNeedsNoForcedEntry() {
    RaftState first = found(1, 1, RaftFixture.voters(1), 1, 1);
    assertThat(ForcedCluster.of(first)).isEmpty();
    RaftState again = forced(found(2, 1, RaftFixture.voters(3), 1, 1)).state();
    assertThat(ForcedCluster.of(again)).as("a second time").isEmpty();
  }

  @Test
  void removedOrUnknownMemberIsRejected() {
    Membership without = new Membership(1, Set.of(TWO), Set.of(), Set.of(), Set.of(), Set.of(ONE));
    assertThatThrownBy(() -> ForcedCluster.of(found(1, 1, without, 1)))
        .hasMessageContaining("removed");
    assertThatThrownBy(() -> ForcedCluster.of(found(0, 0, Membership.EMPTY, 1)))
        .hasMessageContaining("never learned");
  }
}
