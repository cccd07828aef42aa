package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
import static io.troupe.raft.RaftFixture.SETTINGS;
import static io.troupe.raft.RaftFixture.THREE;
import static io.troupe.raft.RaftFixture.TWO;
import static io.troupe.raft.RaftFixture.entry;
import static io.troupe.raft.RaftFixture.noop;
import static io.troupe.raft.RaftFixture.operation;
import static io.troupe.raft.RaftFixture.proposals;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.RecordingEffects.Apply;
import io.troupe.raft.RecordingEffects.Persist;
import io.troupe.raft.RecordingEffects.Send;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The log and its replication: Raft dissertation 3.5, 3.6.2, 10.2.1. */
class RaftReplicationTest {
  @Test
  void followerRepliesAfterPersist_durabilityRule1() {
    RaftFixture one = RaftFixture.withLog(2, 1);
    one.append(2, 1, 1, 0, entry(2, 2), entry(2, 3));
    assertThat(one.effects.take(Persist.class))
        .containsExactly(
            new Persist(
                new HardState(2, NodeId.NONE, 0),
                List.of(entry(2, 2), entry(2, 3)),
                List.of(new Outgoing(TWO, PeerMessage.AppendReply.matched(2, 3)))));
    // The same again while the disk is busy: the message waits for the pending persist.
    one.append(2, 1, 1, 0, entry(2, 2), entry(2, 3));
    assertThat(one.effects.take())
        .containsExactly(
            new Persist(
                new HardState(2, NodeId.NONE, 0),
                List.of(),
                List.of(new Outgoing(TWO, PeerMessage.AppendReply.matched(2, 3)))));
  }

  @Test
  void rejectsAppendThatDoesNotMatch_logMatching3_5() {
    RaftFixture one = RaftFixture.withLog(5, 1, 1, 4, 4);
    one.append(5, 6, 4, 0, entry(5, 7));
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.AppendReply(5, true, 6, 4, 4));
    one.append(5, 4, 3, 0, entry(5, 5));
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.AppendReply(5, true, 4, 2, 1));
    assertThat(one.core.status().lastIndex()).isEqualTo(4);
  }

  @Test
  void truncatesOnlyConflictingEntries_3_5() {
    RaftFixture one = RaftFixture.withLog(5, 1, 1, 4, 4);
    one.append(5, 1, 1, 0, entry(1, 2), entry(5, 3));
    assertThat(one.effects.take(Persist.class).get(0).entries()).containsExactly(entry(5, 3));
    assertThat(one.core.status().lastIndex()).isEqualTo(3);
    // A late, shorter message removes nothing.
    one.append(5, 1, 1, 0, entry(1, 2));
    assertThat(one.core.status().lastIndex()).isEqualTo(3);
  }

  @Test
  void committedEntryIsNeverReplaced_3_6() {
    RaftFixture one = RaftFixture.withLog(5, 1, 1, 4, 4);
    one.append(5, 4, 4, 4);
    assertThatThrownBy(() -> one.core.log.truncateFrom(4)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void followerCommitsAtMostWhatMessageProves_3_5() {
    RaftFixture one = RaftFixture.withLog(5, 1, 1, 4, 4);
    one.append(5, 2, 1, 4);
    assertThat(one.core.status().commit()).as("entries 3 and 4 may be wrong").isEqualTo(2);
    assertThat(one.effects.take(Apply.class))
        .containsExactly(new Apply(List.of(entry(1, 1), entry(1, 2))));
  }

  @Test
  void leaderCountsOwnEntriesOnlyWhenDurable_10_2_1() {
    RaftFixture one = RaftFixture.fresh(3).lead();
    one.ack(TWO, 1);
    assertThat(one.core.status().commit()).isZero();
    one.persisted(1, 1);
    assertThat(one.core.status().commit()).isEqualTo(1);
  }

  @Test
  void leaderCommitsBeforeOwnDiskButAppliesAfterIt_10_2_1() {
    RaftFixture one = RaftFixture.fresh(3).lead();
    one.effects.take();
    one.ack(TWO, 1);
    one.ack(THREE, 1);
    assertThat(one.core.status().commit()).isEqualTo(1);
    assertThat(one.effects.take(Apply.class)).isEmpty();
    one.persisted(1, 1);
    assertThat(one.effects.take(Apply.class)).containsExactly(new Apply(List.of(noop(1, 1))));
  }

  @Test
  void replyOfOlderTermDoesNotCount() {
    RaftFixture one = RaftFixture.withLog(5, 1, 1);
    one.append(5, 2, 1, 0, entry(5, 3), entry(5, 4));
    one.core.receive(THREE, new PeerMessage.Append(6, 2, 1, List.of(entry(6, 3), entry(6, 4)), 4));
    assertThat(one.effects.take(Apply.class))
        .containsExactly(new Apply(List.of(entry(1, 1), entry(1, 2))));
    one.persisted(5, 4);
    assertThat(one.effects.take(Apply.class)).isEmpty();
    assertThat(one.core.log.stable()).isEqualTo(2);
    one.persisted(6, 4);
    assertThat(one.effects.take(Apply.class))
        .containsExactly(new Apply(List.of(entry(6, 3), entry(6, 4))));
  }

  @Test
  void entryOfOlderTermIsNotCommittedByCounting_3_6_2() {
    RaftFixture one = RaftFixture.withLog(2, 1, 2).lead();
    one.durable();
    one.ack(TWO, 2);
    assertThat(one.core.status().commit())
        .as("index 2 is of term 2, stored by a majority")
        .isZero();
    one.ack(TWO, 3);
    assertThat(one.core.status().commit()).isEqualTo(3);
  }

  @Test
  void figure8_3_6_2() {
    // S1 of five leads again in term 4; its entry 2 is of term 2 and reaches a majority.
    RaftFixture one =
        new RaftFixture(
            new RaftState(
                ONE,
                new HardState(3, NodeId.NONE, 0),
                RaftFixture.voters(5),
                0,
                0,
                RaftFixture.log(1, 2),
                0),
            SETTINGS);
    while (one.core.status().role() == RaftRole.FOLLOWER) {
      one.core.tick();
    }
    for (NodeId voter : List.of(TWO, THREE)) {
      one.core.receive(voter, new PeerMessage.VoteReply(4, true, true));
    }
    one.persisted(4, 0);
    for (NodeId voter : List.of(TWO, THREE)) {
      one.core.receive(voter, new PeerMessage.VoteReply(4, false, true));
    }
    one.durable();
    one.ack(TWO, 2);
    one.ack(THREE, 2);
    assertThat(one.core.status().commit()).as("(c): S5 may still replace it").isZero();
    // (d): S5, whose entry 2 is of term 3, wins term 5 and replaces it.
    one.core.receive(
        new NodeId(5), new PeerMessage.Append(5, 1, 1, List.of(entry(3, 2), noop(5, 3)), 0));
    assertThat(one.core.log.termAt(2)).isEqualTo(3);
  }

  @Test
  void figure8_otherOutcome_3_6_2() {
    RaftFixture one = RaftFixture.withLog(3, 1, 2).lead();
    one.durable();
    one.ack(TWO, 3);
    assertThat(one.core.status().commit()).as("(e): with an entry of its own term").isEqualTo(3);
    // S5 cannot be elected now: a voter with entry 3 does not vote for a log that ends in term 3.
    one.core.receive(THREE, new PeerMessage.RequestVote(9, false, 2, 3, true));
    assertThat(one.effects.take().toString())
        .contains("VoteReply[term=9, preVote=false, granted=false]");
  }

  @Test
  void batchIsOnePersistAndIsSentToFollowersImmediately_10_2_1() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a", "b"));
    PeerMessage append =
        new PeerMessage.Append(1, 1, 1, List.of(operation(1, 2, "a"), operation(1, 3, "b")), 1);
    assertThat(one.effects.take())
        .containsExactly(
            new Send(TWO, append),
            new Persist(
                new HardState(1, ONE, 1),
                List.of(operation(1, 2, "a"), operation(1, 3, "b")),
                List.of()));
  }

  @Test
  void probesThenSendsFullMessagesAheadUpToWindow_10_2_1() {
    RaftSettings settings = new RaftSettings(10, 2, 4, 1000, 2, 100_000, 100, 100_000, 30);
    RaftFixture one =
        new RaftFixture(RaftState.fresh(ONE, RaftFixture.voters(3)), settings).leadAndCommit();
    String[] many =
        new String[settings.maxEntriesPerAppend() * (settings.maxInflightAppends() + 1)];
    for (int i = 0; i < many.length; i++) {
      many[i] = "n" + i;
    }
    // Member 3 has not replied: one probe at a time.
    one.core.propose(proposals(many));
    List<RecordingEffects.Send> sends = one.effects.take(Send.class);
    assertThat(sends.stream().filter(s -> s.to().equals(THREE))).isEmpty();
    assertThat(sends.stream().filter(s -> s.to().equals(TWO)))
        .hasSize(settings.maxInflightAppends());
    one.ack(TWO, 1 + settings.maxEntriesPerAppend());
    assertThat(one.sentTo(TWO)).hasSize(1);
  }

  @Test
  void entriesBeforeReplyShareNextMessage_10_2_1() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a"));
    one.core.propose(proposals("b"));
    one.core.propose(proposals("c"));
    assertThat(one.sentTo(TWO))
        .containsExactly(new PeerMessage.Append(1, 1, 1, List.of(operation(1, 2, "a")), 1));
    one.durable();
    one.ack(TWO, 2);
    assertThat(one.sentTo(TWO))
        .as("entries and the commit index in one")
        .containsExactly(
            new PeerMessage.Append(
                1, 2, 1, List.of(operation(1, 3, "b"), operation(1, 4, "c")), 2));
  }

  @Test
  void fullMessageDoesNotWaitForReply_10_2_1() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a"));
    one.core.propose(proposals("x".repeat((int) SETTINGS.maxBytesPerAppend())));
    assertThat(one.sentTo(TWO)).hasSize(2);
  }

  @Test
  void rejectionMovesNextToWhereLogsMayAgree_3_5() {
    RaftFixture one = RaftFixture.withLog(6, 1, 1, 1, 4, 4, 6).lead();
    one.effects.take();
    // Member 2 has 1 1 1 2 2 2 3: nothing above index 3 can agree.
    one.core.receive(TWO, new PeerMessage.AppendReply(7, true, 6, 6, 2));
    assertThat(one.sentTo(TWO))
        .containsExactly(
            new PeerMessage.Append(
                7, 3, 1, List.of(entry(4, 4), entry(4, 5), entry(6, 6), noop(7, 7)), 0));
    // A repeated rejection of the first probe is outdated.
    one.core.receive(TWO, new PeerMessage.AppendReply(7, true, 6, 6, 2));
    assertThat(one.sentTo(TWO)).isEmpty();
  }

  @Test
  void lostLastMessageIsDetectedByHeartbeat() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a"));
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, 77));
    assertThat(one.sentTo(TWO)).as("a reply to a read round is no reason").isEmpty();
    one.ticks(SETTINGS.heartbeatTicks());
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, 0));
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.Append(1, 2, 1, List.of(), 1));
    one.core.receive(TWO, new PeerMessage.AppendReply(1, true, 2, 1, 1));
    assertThat(one.sentTo(TWO))
        .containsExactly(new PeerMessage.Append(1, 1, 1, List.of(operation(1, 2, "a")), 1));
  }

  @Test
  void heartbeatCommitsAtMostMatchIndex_3_5() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.ticks(SETTINGS.heartbeatTicks());
    List<Send> sends = one.effects.take(Send.class);
    assertThat(sends)
        .containsExactly(
            new Send(TWO, new PeerMessage.Heartbeat(1, 1, 0)),
            new Send(THREE, new PeerMessage.Heartbeat(1, 0, 0)));
  }

  @Test
  void followersLearnCommitBeforeNextHeartbeat() {
    RaftFixture one = RaftFixture.fresh(3).lead();
    one.durable();
    one.effects.take();
    one.ack(TWO, 1);
    assertThat(one.sentTo(TWO)).containsExactly(new PeerMessage.Committed(1, 1, 1));
  }

  @Test
  void committedAppliesOnlyToMatchingEntry_3_5() {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2, 3);
    one.append(4, 2, 1, 0);
    assertThat(one.core.status().commit()).isZero();
    one.core.receive(TWO, new PeerMessage.Committed(4, 3, 3));
    assertThat(one.core.status().commit()).as("another entry here").isZero();
    one.core.receive(TWO, new PeerMessage.Committed(4, 9, 3));
    assertThat(one.core.status().commit()).as("not here yet").isZero();
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.Committed(4, 3, 2));
    assertThat(one.core.status().commit()).isEqualTo(3);
    assertThat(one.sentTo(TWO)).as("needs no reply").isEmpty();
    one.core.receive(TWO, new PeerMessage.Committed(4, 2, 1));
    assertThat(one.core.status().commit()).as("never back").isEqualTo(3);
  }

  @Test
  void restartAppliesCommittedEntries() {
    RaftFixture one =
        new RaftFixture(
            new RaftState(
                ONE,
                new HardState(3, NodeId.NONE, 5),
                RaftFixture.voters(3),
                2,
                1,
                List.of(entry(2, 3), entry(2, 4), entry(3, 5), entry(3, 6)),
                3),
            SETTINGS);
    assertThat(one.effects.take(Apply.class))
        .containsExactly(new Apply(List.of(entry(2, 4), entry(3, 5))));
    assertThat(one.core.status().firstIndex()).isEqualTo(3);
  }

  @Test
  void inconsistentRecoveryIsRejected() {
    assertThatThrownBy(() -> recovered(5, List.of(entry(1, 1), entry(1, 3)), 0))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> recovered(2, List.of(entry(1, 1)), 0))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> recovered(1, List.of(entry(1, 1)), 2))
        .isInstanceOf(Invariant.Broken.class);
    assertThatThrownBy(() -> recovered(1, List.of(entry(9, 1)), 0))
        .isInstanceOf(Invariant.Broken.class);
  }

  private static RaftState recovered(
      long commit, List<io.troupe.model.Entry> entries, long applied) {
    return new RaftState(
        ONE, new HardState(5, NodeId.NONE, commit), RaftFixture.voters(3), 0, 0, entries, applied);
  }
}
