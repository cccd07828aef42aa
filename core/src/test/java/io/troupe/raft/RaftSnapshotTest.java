package io.troupe.raft;

import static io.troupe.raft.RaftFixture.ONE;
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
import io.troupe.raft.RecordingEffects.Install;
import io.troupe.raft.RecordingEffects.Persist;
import io.troupe.raft.RecordingEffects.ReadLog;
import io.troupe.raft.RecordingEffects.Send;
import io.troupe.raft.RecordingEffects.SendSnapshot;
import io.troupe.raft.membership.Membership;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Followers that lag a lot: snapshots (Raft dissertation 5.3) and entries from the disk. */
class RaftSnapshotTest {
  private static final Membership OTHER =
      new Membership(15, Set.of(ONE, TWO), Set.of(), Set.of(), Set.of(), Set.of(THREE));
  private static final SnapshotMark MARK = new SnapshotMark(20, 4, OTHER);

  // ---- the leader

  private static void replyToHeartbeat(RaftFixture one) {
    one.ticks(RaftFixture.SETTINGS.heartbeatTicks());
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, 0));
  }

  private static RaftFixture compacted() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.compactLog(1);
    one.effects.take();
    one.core.receive(THREE, new PeerMessage.AppendReply(1, true, 1, 0, 0));
    one.core.receive(THREE, new PeerMessage.AppendReply(1, true, 0, 0, 0));
    replyToHeartbeat(one);
    return one;
  }

  @Test
  void followerThatNeedsCompactedEntriesGetsOneSnapshot_5_3() {
    RaftFixture one = compacted();
    assertThat(one.effects.take(SendSnapshot.class))
        .containsExactly(new SendSnapshot(THREE, 1, 1, 1));
    replyToHeartbeat(one);
    one.effects.take();
    one.core.propose(proposals("a"));
    assertThat(one.sentTo(THREE)).as("nothing until it finishes").isEmpty();
  }

  @Test
  void entriesContinueAfterSnapshot_5_3() {
    RaftFixture one = compacted();
    one.core.propose(proposals("a"));
    one.effects.take();
    one.core.snapshotSent(THREE, 1, 1, true);
    assertThat(one.sentTo(THREE))
        .containsExactly(new PeerMessage.Append(1, 1, 1, List.of(operation(1, 2, "a")), 1));
  }

  @Test
  void failedSnapshotIsSentAgainAfterReplyOfFollower_5_3() {
    RaftFixture one = compacted();
    one.effects.take();
    one.core.snapshotSent(THREE, 1, 1, false);
    assertThat(one.effects.take()).isEmpty();
    assertThat(heartbeatsUntilNextSnapshot(one)).isGreaterThan(1);
  }

  /** Heartbeats with replies of the follower, until a snapshot is sent to it. */
  private static int heartbeatsUntilNextSnapshot(RaftFixture one) {
    for (int heartbeats = 1; heartbeats < 10_000; heartbeats++) {
      one.core.receive(TWO, new PeerMessage.HeartbeatReply(1, 0));
      replyToHeartbeat(one);
      List<RecordingEffects.Effect> effects = one.effects.take();
      if (effects.stream().anyMatch(SendSnapshot.class::isInstance)) {
        return heartbeats;
      }
      // The leader's probes are rejected meanwhile, because the follower lacks all entries.
      effects.stream()
          .filter(Send.class::isInstance)
          .map(Send.class::cast)
          .filter(send -> send.to().equals(THREE))
          .map(Send::message)
          .filter(PeerMessage.Append.class::isInstance)
          .map(PeerMessage.Append.class::cast)
          .forEach(
              probe ->
                  one.core.receive(
                      THREE, new PeerMessage.AppendReply(1, true, probe.prevIndex(), 0, 0)));
      assertThat(one.effects.take()).as("nothing before the next heartbeat").isEmpty();
    }
    throw new AssertionError("no snapshot in 10,000 heartbeats");
  }

  @Test
  void refusedSnapshotsAreRetriedWithGrowingDelays() {
    RaftFixture one = compacted();
    one.effects.take();
    int ticks = RaftFixture.SETTINGS.heartbeatTicks();
    int first = RaftFixture.SETTINGS.electionTicks();
    int before = 0;
    for (int refusals = 1; refusals <= 9; refusals++) {
      one.core.snapshotSent(THREE, refusals, 1, false);
      int waited = ticks * heartbeatsUntilNextSnapshot(one);
      int expected = first << Math.min(refusals - 1, 5);
      assertThat(waited)
          .as("after refusal " + refusals)
          .isBetween(expected - ticks, expected + ticks);
      assertThat(waited).isGreaterThanOrEqualTo(before - ticks);
      before = waited;
    }
  }

  @Test
  void usefulSnapshotResetsDelay() {
    RaftFixture one = compacted();
    one.core.propose(proposals("a"));
    one.core.snapshotSent(THREE, 1, 1, true);
    one.core.receive(THREE, new PeerMessage.AppendReply(1, false, 2, 0, 0));
    one.effects.take();
    one.core.propose(proposals("b"));
    assertThat(one.sentTo(THREE)).hasSize(1);
  }

  /** The follower rejects entries while it installs; after that it needs no second snapshot. */
  @Test
  void followerThatInstallsLateIsProbedBeforeNextSnapshot() {
    RaftFixture one = compacted();
    one.core.propose(proposals("a"));
    one.core.snapshotSent(THREE, 1, 1, true);
    one.core.receive(THREE, new PeerMessage.AppendReply(1, true, 1, 0, 0));
    one.effects.take();
    replyToHeartbeat(one);
    assertThat(one.sentTo(THREE)).contains(new PeerMessage.Append(1, 1, 1, List.of(), 1));
    one.core.receive(THREE, new PeerMessage.AppendReply(1, false, 1, 0, 0));
    assertThat(one.sentTo(THREE))
        .contains(new PeerMessage.Append(1, 1, 1, List.of(operation(1, 2, "a")), 1));
    assertThat(one.effects.take(SendSnapshot.class)).isEmpty();
  }

  /**
   * The state machine publishes its state before it reports the applied index, and a snapshot can
   * be taken in between.
   */
  @Test
  void snapshotMayBeNewerThanReportedAppliedIndex() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.propose(proposals("a"));
    one.core.receive(TWO, new PeerMessage.AppendReply(1, false, 2, 0, 0));
    one.durable();
    assertThat(one.core.status().commit()).isEqualTo(2);
    assertThat(one.core.status().applied()).isEqualTo(1);
    one.core.compactLog(2);
    assertThat(one.core.status().firstIndex()).isEqualTo(3);
    one.core.applied(2);
    assertThat(one.core.status().applied()).isEqualTo(2);
    one.core.propose(proposals("b"));
    assertThat(one.core.log.get(3)).isNotNull();
  }

  /** The first transfer was no longer needed; it finishes after the start of the second. */
  @Test
  void resultOfOldTransferIsNotCreditedToNewOne() {
    RaftFixture one = compacted();
    one.core.propose(proposals("a"));
    one.core.receive(THREE, new PeerMessage.AppendReply(1, false, 1, 0, 0));
    one.core.receive(THREE, new PeerMessage.AppendReply(1, true, 2, 0, 0));
    one.core.receive(TWO, new PeerMessage.AppendReply(1, false, 2, 0, 0));
    one.durable();
    one.core.applied(2);
    one.core.compactLog(2);
    one.effects.take();
    replyToHeartbeat(one);
    assertThat(one.effects.take(SendSnapshot.class))
        .containsExactly(new SendSnapshot(THREE, 2, 1, 2));
    one.core.snapshotSent(THREE, 1, 1, true);
    assertThat(one.effects.take()).as("the first one's success").isEmpty();
    one.core.snapshotSent(THREE, 1, 1, false);
    replyToHeartbeat(one);
    assertThat(one.effects.take(SendSnapshot.class)).as("the first one's failure").isEmpty();
    one.core.snapshotSent(THREE, 2, 2, true);
    one.core.propose(proposals("b"));
    assertThat(one.sentTo(THREE)).hasSize(1);
  }

  @Test
  void lateReportsAreIgnored() {
    RaftFixture one = RaftFixture.fresh(3).leadAndCommit();
    one.core.snapshotSent(TWO, 1, 1, true);
    one.core.snapshotSent(new NodeId(9), 1, 1, true);
    one.core.logRead(TWO, 1, List.of(noop(1, 1)));
    RaftFixture follower = RaftFixture.withLog(1);
    follower.core.snapshotSent(TWO, 1, 1, true);
    follower.core.logRead(TWO, 1, List.of());
    assertThat(follower.effects.take()).isEmpty();
  }

  // ---- the follower

  private static RaftFixture receiver() {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2);
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, MARK));
    return one;
  }

  /** The tail of the old log is of a leader whose entries were never committed. */
  @Test
  void hardStateBeforeRestartCommitsNothingMoreOfOldLog_5_3() {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2);
    one.core.receive(TWO, new PeerMessage.Append(4, 1, 1, List.of(), 1));
    one.effects.take();
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, MARK));
    Install install = one.effects.take(Install.class).get(0);
    assertThat(install.before()).isEqualTo(new HardState(4, NodeId.NONE, 1));
    assertThat(install.state()).isEqualTo(new HardState(4, NodeId.NONE, 20));
  }

  @Test
  void snapshotReplacesLogAndMembershipAndIsAcknowledgedWhenDurable_5_3() {
    RaftFixture one = receiver();
    assertThat(one.effects.take())
        .startsWith(
            new Install(
                new HardState(4, NodeId.NONE, 0),
                new HardState(4, NodeId.NONE, 20),
                MARK,
                List.of(new Outgoing(TWO, PeerMessage.AppendReply.matched(4, 20)))),
            new RecordingEffects.MembershipChanged(OTHER));
    assertThat(one.core.status().firstIndex()).isEqualTo(21);
    assertThat(one.core.membership()).isEqualTo(OTHER);
    one.append(4, 20, 4, 21, entry(4, 21));
    assertThat(one.effects.take(Apply.class)).as("the snapshot is not durable").isEmpty();
    one.persisted(4, 20);
    assertThat(one.effects.take(Apply.class)).isEmpty();
    one.persisted(4, 21);
    assertThat(one.effects.take(Apply.class)).containsExactly(new Apply(List.of(entry(4, 21))));
    one.core.applied(20);
    one.core.applied(21);
    assertThat(one.core.status().applied()).isEqualTo(21);
  }

  @Test
  void secondSnapshotWaitsForFirst_18055() {
    RaftFixture one = receiver();
    one.effects.take();
    SnapshotMark newer = new SnapshotMark(30, 4, OTHER);
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, newer));
    assertThat(one.effects.take()).isEmpty();
    one.persisted(4, 20);
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, newer));
    assertThat(one.effects.take(Install.class)).extracting(Install::mark).containsExactly(newer);
  }

  @Test
  void olderSnapshotIsAcknowledgedWithCommitIndex() {
    RaftFixture one = receiver();
    one.persisted(4, 20);
    one.effects.take();
    SnapshotMark older = new SnapshotMark(18, 4, OTHER);
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, older));
    assertThat(one.effects.take())
        .containsExactly(new RecordingEffects.Send(TWO, PeerMessage.AppendReply.matched(4, 20)));
  }

  @Test
  void snapshotOfPresentEntriesOnlyRaisesCommitIndex() {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2);
    SnapshotMark mark = new SnapshotMark(2, 1, RaftFixture.voters(3));
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, mark));
    assertThat(one.effects.take(Install.class)).isEmpty();
    assertThat(one.core.status().commit()).isEqualTo(2);
    assertThat(one.core.status().lastIndex()).isEqualTo(3);
  }

  @Test
  void snapshotOfOlderTermIsIgnored() {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2);
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(3, MARK));
    assertThat(one.effects.take(Install.class)).isEmpty();
  }

  @Test
  void writesBeforeSnapshotProveNothing() {
    RaftFixture one = RaftFixture.withLog(4, 1, 1, 2);
    one.append(4, 3, 2, 0, entry(4, 4));
    one.core.receive(TWO, new PeerMessage.InstallSnapshot(4, MARK));
    one.persisted(4, 4);
    assertThat(one.core.log.stable()).isEqualTo(3);
    one.persisted(4, 20);
    assertThat(one.core.log.stable()).isEqualTo(20);
  }

  // ---- entries from the disk

  /** A leader whose first entries are not in memory; member 3 has none. */
  private static RaftFixture forgetful() {
    RaftSettings settings = new RaftSettings(10, 2, 2, 1000, 2, 10_000, 100, 400, 0);
    RaftFixture one = new RaftFixture(RaftState.fresh(ONE, RaftFixture.voters(3)), settings);
    one.lead();
    one.durable();
    one.ack(TWO, 1);
    for (int i = 2; i <= 9; i++) {
      one.core.propose(proposals("p" + i));
      one.durable();
      one.ack(TWO, i);
      one.core.applied(i);
    }
    assertThat(one.core.log.firstInMemory()).isGreaterThan(3);
    one.effects.take();
    one.core.receive(THREE, new PeerMessage.AppendReply(1, true, 0, 0, 0));
    one.core.receive(THREE, new PeerMessage.HeartbeatReply(1, 0));
    one.ack(THREE, 0);
    return one;
  }

  @Test
  void entriesOutsideMemoryAreReadAndSent() {
    RaftFixture one = forgetful();
    assertThat(one.effects.take(ReadLog.class)).containsExactly(new ReadLog(THREE, 1, 3, 1000));
    one.core.propose(proposals("more"));
    assertThat(one.sentTo(THREE)).as("one read at a time").isEmpty();
    one.core.logRead(THREE, 1, List.of(noop(1, 1), operation(1, 2, "p2")));
    List<RecordingEffects.Effect> effects = one.effects.take();
    assertThat(effects)
        .contains(
            new RecordingEffects.Send(
                THREE,
                new PeerMessage.Append(1, 0, 0, List.of(noop(1, 1), operation(1, 2, "p2")), 9)));
    assertThat(effects).anyMatch(e -> e instanceof ReadLog next && next.from() == 3);
  }

  @Test
  void unreadableEntriesAreReplacedBySnapshot() {
    RaftFixture one = forgetful();
    one.effects.take();
    one.core.logRead(THREE, 1, List.of());
    assertThat(one.effects.take(SendSnapshot.class)).hasSize(1);
  }

  @Test
  void entriesOfAnotherLogStopMember() {
    RaftFixture one = forgetful();
    assertThatThrownBy(() -> one.core.logRead(THREE, 1, List.of(entry(2, 1))))
        .isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void bytesInFlightToFollowerAreBounded() {
    RaftSettings settings = new RaftSettings(10, 2, 1, 1000, 50, 10, 100, 100_000, 0);
    RaftFixture one = new RaftFixture(RaftState.fresh(ONE, RaftFixture.voters(3)), settings);
    one.leadAndCommit();
    for (int i = 0; i < 20; i++) {
      one.core.propose(proposals("abcd"));
    }
    assertThat(one.sentTo(TWO)).as("12 bytes, the third message is the last").hasSize(3);
    assertThat(one.effects.take(Persist.class)).isEmpty();
  }
}
