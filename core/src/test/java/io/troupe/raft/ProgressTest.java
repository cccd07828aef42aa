package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.raft.ReplicationStatus.PeerState;
import org.junit.jupiter.api.Test;

/** A leader's knowledge of a follower: Raft dissertation 10.2.1. */
class ProgressTest {
  private static final RaftSettings SETTINGS =
      new RaftSettings(10, 2, 4, 1000, 3, 500, 8, 100_000, 30);
  private final Progress progress = new Progress(11, SETTINGS);

  @Test
  void probesOneMessageAtATime() {
    progress.sent(2, 12, 20, 0);
    assertThat(progress.isPaused()).isTrue();
    progress.resume();
    assertThat(progress.isPaused()).isFalse();
    assertThat(progress.next()).as("a probe is sent again").isEqualTo(11);
  }

  @Test
  void replicatesAheadUpToMessageWindow() {
    assertThat(progress.matched(10, 1)).isTrue();
    assertThat(progress.state()).isEqualTo(PeerState.REPLICATE);
    for (long last = 12; last <= 16; last += 2) {
      assertThat(progress.isPaused()).isFalse();
      progress.sent(2, last, 20, 0);
    }
    assertThat(progress.isPaused()).isTrue();
    assertThat(progress.next()).isEqualTo(17);
    assertThat(progress.matched(14, 1)).isTrue();
    assertThat(progress.isPaused()).isFalse();
    assertThat(progress.matched(12, 1)).as("late").isFalse();
    assertThat(progress.match()).isEqualTo(14);
  }

  @Test
  void replicatesAheadUpToByteWindow() {
    progress.matched(10, 1);
    progress.sent(1, 11, 300, 0);
    assertThat(progress.isPaused()).isFalse();
    progress.sent(1, 12, 300, 0);
    assertThat(progress.isPaused()).isTrue();
    progress.matched(11, 1);
    assertThat(progress.isPaused()).as("300 of 500 bytes").isFalse();
  }

  @Test
  void heartbeatAllowsResendOfOneLostMessage() {
    progress.matched(10, 1);
    progress.sent(1, 11, 600, 0);
    assertThat(progress.isPaused()).isTrue();
    progress.resume();
    assertThat(progress.isPaused()).isFalse();
  }

  @Test
  void rejectionWhileReplicatingMeansLoss() {
    progress.matched(10, 1);
    progress.sent(2, 12, 20, 0);
    assertThat(progress.rejected(12, 12)).isTrue();
    assertThat(progress.state()).isEqualTo(PeerState.PROBE);
    assertThat(progress.next()).isEqualTo(12);
    assertThat(progress.rejected(10, 3)).as("contradicts an earlier reply").isFalse();
  }

  @Test
  void nextNeverDropsBelowMatch() {
    progress.matched(10, 1);
    assertThat(progress.rejected(15, 2)).isTrue();
    assertThat(progress.next()).isEqualTo(11);
  }

  @Test
  void oldRejectionOfProbeIsIgnored() {
    assertThat(progress.rejected(10, 4)).isTrue();
    assertThat(progress.next()).isEqualTo(5);
    assertThat(progress.rejected(10, 4)).isFalse();
  }

  @Test
  void nothingIsSentWhileSnapshotIsInFlight() {
    progress.snapshotStarted(1);
    progress.resume();
    assertThat(progress.isPaused()).isTrue();
    assertThat(progress.rejected(10, 4)).isFalse();
    progress.matched(3, 9);
    assertThat(progress.state()).as("still before the log").isEqualTo(PeerState.SNAPSHOT);
    progress.snapshotEnded(20, true);
    assertThat(progress.state()).isEqualTo(PeerState.PROBE);
    assertThat(progress.next()).isEqualTo(21);
    assertThat(progress.isPaused()).isFalse();
  }

  @Test
  void failedSnapshotWaitsForReplyOfFollower() {
    progress.snapshotStarted(1);
    progress.snapshotEnded(20, false);
    assertThat(progress.isPaused()).isTrue();
    progress.resume();
    assertThat(progress.isPaused()).isFalse();
    assertThat(progress.next()).isEqualTo(1);
  }

  @Test
  void followerThatCaughtUpNeedsNoSnapshot() {
    progress.snapshotStarted(1);
    progress.matched(8, 9);
    assertThat(progress.state()).isEqualTo(PeerState.REPLICATE);
    assertThat(progress.next()).isEqualTo(9);
  }

  @Test
  void outdatedDiskReadIsNotUsed() {
    progress.readStarted();
    assertThat(progress.isPaused()).isTrue();
    progress.matched(15, 1);
    assertThat(progress.readEnded(11)).isFalse();
    assertThat(progress.isPaused()).isFalse();
    progress.readStarted();
    assertThat(progress.readEnded(16)).isTrue();
    assertThat(progress.readEnded(16)).as("completed once").isFalse();
  }

  @Test
  void connectionCountsWhileRepliesArrive() {
    assertThat(progress.connectedTicks()).isZero();
    progress.heard();
    for (int i = 0; i < 30; i++) {
      progress.tick();
      progress.heard();
    }
    assertThat(progress.connectedTicks()).isEqualTo(31);
    for (int i = 0; i < SETTINGS.electionTicks(); i++) {
      progress.tick();
    }
    assertThat(progress.connectedTicks()).isZero();
  }
}
