package io.troupe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.ReplicationStatus.PeerState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Which part of the log is kept. Each segment of these logs has 100 entries and 100 bytes. */
class LogRetentionTest {
  private static final NodeId LEADER = new NodeId(1);
  private static final NodeId FOLLOWER = new NodeId(2);

  private final LogRetention retention = new LogRetention(new LogRetention.Limits(50, 5000, 2000));

  private final Map<NodeId, Long> lost = new TreeMap<>();
  private final Map<NodeId, Long> full = new TreeMap<>();
  private final LogRetention.Losses losses = (id, index, bytes) -> lost.put(id, index);

  private static LogExtent log(int segments) {
    List<LogExtent.Segment> sealed = new ArrayList<>();
    for (int i = 1; i < segments; i++) {
      sealed.add(new LogExtent.Segment(100L * i, 100));
    }
    return new LogExtent(sealed, 100);
  }

  private static ReplicationStatus replication(long last, long match, PeerState state) {
    return new ReplicationStatus(
        LEADER, last, new TreeMap<>(Map.of(FOLLOWER, new ReplicationStatus.Peer(match, 1, state))));
  }

  @Test
  void logReachesBackToOlderOfTwoSnapshots() {
    assertThat(retention.releasable(1000, List.of(700L, 1000L), log(11), losses)).isEqualTo(700);
  }

  @Test
  void retainedBytesAreCountedOnceForTheirFirstReason() {
    assertThat(retention.retained()).isEqualTo(new LogRetention.Retained(0, 0, 0));
    retention.releasable(1000, List.of(1000L), log(11), losses);
    assertThat(retention.retained())
        .as("50 entries are less than a segment")
        .isEqualTo(new LogRetention.Retained(0, 100, 0));
    retention.releasable(1000, List.of(700L, 1000L), log(11), losses);
    assertThat(retention.retained()).isEqualTo(new LogRetention.Retained(300, 0, 0));
    retention.sending(FOLLOWER, 1, 200);
    retention.releasable(1000, List.of(700L, 1000L), log(11), losses);
    assertThat(retention.retained()).isEqualTo(new LogRetention.Retained(300, 0, 500));
    retention.releasedFor(1000, full::put);
    assertThat(retention.retained()).isEqualTo(new LogRetention.Retained(0, 0, 0));
  }

  @Test
  void snapshotAboveStateDoesNotCount() {
    assertThat(retention.releasable(1000, List.of(700L, 1000L, 4000L), log(11), losses))
        .isEqualTo(700);
    assertThat(retention.releasable(1000, List.of(4000L), log(11), losses)).isZero();
  }

  @Test
  void catchUpEntriesAreKeptBelowOnlySnapshot() {
    assertThat(retention.releasable(1000, List.of(1000L), log(11), losses)).isEqualTo(950);
  }

  @Test
  void catchUpEntriesAreBoundedByBytes() {
    LogRetention few = new LogRetention(new LogRetention.Limits(10_000, 300, 2000));
    assertThat(few.releasable(1000, List.of(1000L), log(11), losses))
        .as("the open segment and two others take 300 bytes")
        .isEqualTo(800);
    LogRetention none = new LogRetention(new LogRetention.Limits(10_000, 10, 2000));
    assertThat(none.releasable(1000, List.of(1000L), log(11), losses)).isEqualTo(1000);
  }

  @Test
  void logIsKeptForReceiverUntilItHasCaughtUp() {
    retention.sending(FOLLOWER, 1, 300);
    assertThat(retention.releasable(1000, List.of(900L, 1000L), log(11), losses)).isEqualTo(300);
    retention.ended(FOLLOWER, 1, true);
    retention.replicated(replication(1000, 0, PeerState.PROBE));
    assertThat(retention.releasable(1000, List.of(900L, 1000L), log(11), losses))
        .as("it installs")
        .isEqualTo(300);
    retention.replicated(replication(1200, 400, PeerState.REPLICATE));
    assertThat(retention.releasable(1200, List.of(1100L, 1200L), log(13), losses))
        .as("what it has already is no longer needed")
        .isEqualTo(400);
    assertThat(retention.hasReceivers()).isTrue();
    retention.replicated(replication(1300, 1250, PeerState.REPLICATE));
    assertThat(retention.hasReceivers()).isFalse();
    assertThat(retention.releasable(1300, List.of(1200L, 1300L), log(14), losses)).isEqualTo(1200);
  }

  @Test
  void logOfSlowReceiverIsReleased() {
    retention.sending(FOLLOWER, 1, 100);
    retention.ended(FOLLOWER, 1, true);
    assertThat(retention.releasable(2000, List.of(1900L, 2000L), log(21), losses)).isEqualTo(100);
    assertThat(retention.releasable(2200, List.of(2100L, 2200L), log(23), losses))
        .as("2,200 bytes of log above index 100, 2,000 are allowed")
        .isEqualTo(2100);
    assertThat(retention.hasReceivers()).isFalse();
    assertThat(lost).containsOnly(Map.entry(FOLLOWER, 100L));
  }

  @Test
  void endOfOldTransferReleasesNothingOfNewTransfer() {
    retention.sending(FOLLOWER, 1, 100);
    retention.sending(FOLLOWER, 2, 500);
    retention.ended(FOLLOWER, 1, false);
    retention.ended(FOLLOWER, 1, true);
    retention.replicated(null);
    assertThat(retention.releasable(1000, List.of(900L, 1000L), log(11), losses)).isEqualTo(500);
    retention.ended(FOLLOWER, 2, false);
    assertThat(retention.releasable(1000, List.of(900L, 1000L), log(11), losses)).isEqualTo(900);
  }

  @Test
  void receiverIsForgottenOnRemovalOrLossOfLeadership() {
    retention.sending(FOLLOWER, 1, 100);
    retention.ended(FOLLOWER, 1, true);
    retention.replicated(new ReplicationStatus(LEADER, 1000, new TreeMap<>()));
    assertThat(retention.hasReceivers()).isFalse();
    retention.sending(FOLLOWER, 2, 100);
    retention.replicated(null);
    assertThat(retention.hasReceivers()).as("in progress").isTrue();
    retention.ended(FOLLOWER, 2, true);
    retention.replicated(null);
    assertThat(retention.hasReceivers()).isFalse();
  }

  @Test
  void nearlyFullDiskReleasesLogOfReceivers() {
    retention.sending(FOLLOWER, 1, 300);
    retention.releasedFor(300, full::put);
    assertThat(retention.hasReceivers()).isTrue();
    assertThat(full).isEmpty();
    retention.releasedFor(1000, full::put);
    assertThat(retention.hasReceivers()).isFalse();
    assertThat(full).containsOnly(Map.entry(FOLLOWER, 300L));
    assertThat(lost).isEmpty();
  }
}
