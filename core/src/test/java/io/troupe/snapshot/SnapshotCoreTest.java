package io.troupe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.NodeId;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.ReplicationStatus.PeerState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The decisions of the snapshot actor, with a disk of numbers. */
class SnapshotCoreTest {
  private static final NodeId FOLLOWER = new NodeId(3);
  private static final NodeId OTHER = new NodeId(4);
  private static final int SEGMENTS = 4;

  private final Disk disk = new Disk();

  /** A snapshot is its index. */
  private static final class Disk implements SnapshotEffects<Long> {
    private final TreeSet<Long> snapshots = new TreeSet<>();
    private final List<String> effects = new ArrayList<>();
    private LogExtent log = new LogExtent(List.of(), 10);
    private LogRetention.Retained retained = LogRetention.Retained.NOTHING;
    private long applied;
    private boolean low;
    private boolean fits = true;
    private boolean unreadable;
    private boolean rewritten;

    private List<String> drain() {
      List<String> all = List.copyOf(effects);
      effects.clear();
      return all;
    }

    @Override
    public long appliedIndex() {
      return applied;
    }

    @Override
    public LogExtent log() {
      return log;
    }

    @Override
    public boolean isDiskLow() {
      return low;
    }

    @Override
    public boolean fits() {
      return fits;
    }

    @Override
    public Optional<List<Long>> indexes() {
      return unreadable ? Optional.empty() : Optional.of(List.copyOf(snapshots));
    }

    @Override
    public Optional<Long> newestIndex(long index) {
      Long floor = snapshots.floor(index);
      return unreadable ? Optional.empty() : Optional.of(floor == null ? 0 : floor);
    }

    @Override
    public @Nullable Long latest() {
      return snapshots.isEmpty() || unreadable ? null : snapshots.last();
    }

    @Override
    public long indexOf(Long snapshot) {
      return snapshot;
    }

    @Override
    public boolean holdsRewrittenFiles(long index) {
      return rewritten;
    }

    @Override
    public void take(long index) {
      effects.add("take " + index);
    }

    @Override
    public void startInterval() {
      effects.add("interval");
    }

    @Override
    public void deleteOlder(long index) {
      effects.add("delete before " + index);
    }

    @Override
    public void proposeEmptyEntry() {
      effects.add("propose");
    }

    @Override
    public void transfer(SnapshotRequest request, Long snapshot) {
      effects.add("send " + snapshot + " to " + request.to().value());
    }

    @Override
    public void discardReceived(long applied, boolean all) {
      effects.add("discard " + applied + (all ? " all" : ""));
    }

    @Override
    public void queryReplication() {
      effects.add("query");
    }

    @Override
    public void release(long index) {
      effects.add("release " + index);
    }

    @Override
    public void retained(LogRetention.Retained now) {
      retained = now;
    }

    @Override
    public void receiverLost(NodeId receiver, long index, long bytes) {
      effects.add("lost " + receiver.value() + " at " + index + " with " + bytes);
    }

    @Override
    public void receiverLostOnFullDisk(NodeId receiver, long index) {
      effects.add("lost " + receiver.value() + " at " + index);
    }
  }

  private SnapshotCore<Long> core(boolean pauses) {
    SnapshotCore<Long> core =
        new SnapshotCore<>(
            new SnapshotCore.Settings(
                100, 1000, SEGMENTS, pauses, new LogRetention.Limits(0, 1000, 500)),
            disk);
    core.start();
    return core;
  }

  private SnapshotCore<Long> core() {
    return core(false);
  }

  private void save(SnapshotCore<Long> core, long index) {
    disk.snapshots.add(index);
    core.saved(index);
  }

  private void apply(SnapshotCore<Long> core, long index) {
    disk.applied = index;
    core.due(index);
  }

  private static SnapshotRequest request(NodeId to, long transfer, long atLeast) {
    return new SnapshotRequest(to, transfer, 1, atLeast);
  }

  private static ReplicationStatus replication(long last, long match, PeerState state) {
    return new ReplicationStatus(
        new NodeId(1),
        last,
        new TreeMap<>(Map.of(FOLLOWER, new ReplicationStatus.Peer(match, 1, state))));
  }

  @Test
  void oneSnapshotIsTakenAtATimeAndNewestRequestWaits() {
    SnapshotCore<Long> core = core();
    apply(core, 10);
    assertThat(disk.drain()).containsExactly("take 10");
    apply(core, 20);
    apply(core, 30);
    assertThat(disk.drain()).isEmpty();
    save(core, 10);
    assertThat(disk.drain()).containsExactly("release 10", "take 30");
    save(core, 30);
    assertThat(disk.drain()).as("the log reaches back to both snapshots").isEmpty();
    disk.snapshots.remove(10L);
    core.check();
    assertThat(disk.drain()).containsExactly("discard 30", "release 30");
  }

  @Test
  void minimumTimePassesBetweenTwoSnapshots() {
    SnapshotCore<Long> core = core(true);
    apply(core, 10);
    save(core, 10);
    apply(core, 20);
    assertThat(disk.drain()).containsExactly("take 10", "release 10", "interval");
    core.intervalElapsed();
    assertThat(disk.drain()).containsExactly("take 20");
  }

  @Test
  void snapshotOfAppliedIndexIsNotTakenAgain() {
    SnapshotCore<Long> core = core();
    apply(core, 10);
    save(core, 10);
    disk.drain();
    core.reclaim();
    core.due(10);
    assertThat(disk.drain()).isEmpty();
    disk.applied = 11;
    core.check();
    assertThat(disk.drain()).as("files were rewritten").contains("take 11");
  }

  @Test
  void longLogMakesSnapshotDue() {
    SnapshotCore<Long> core = core();
    disk.applied = 5;
    core.check();
    assertThat(disk.drain()).containsExactly("discard 5");
    disk.log = new LogExtent(List.of(), 1000);
    core.check();
    assertThat(disk.drain()).as("bytes").containsExactly("take 5");
    save(core, 5);
    disk.drain();
    disk.applied = 6;
    disk.log =
        new LogExtent(
            List.of(
                new LogExtent.Segment(6, 1),
                new LogExtent.Segment(7, 1),
                new LogExtent.Segment(8, 1)),
            1);
    core.check();
    assertThat(disk.drain()).as("segments").containsExactly("take 6");
    save(core, 6);
    disk.log = new LogExtent(List.of(), 10);
    disk.drain();
    disk.applied = 105;
    core.check();
    assertThat(disk.drain()).as("99 entries").containsExactly("discard 105");
    disk.applied = 106;
    core.check();
    assertThat(disk.drain()).as("100 entries").containsExactly("take 106");
  }

  @Test
  void failedSaveIsRepeatedByCheckOnly() {
    SnapshotCore<Long> core = core();
    disk.applied = 10;
    core.reclaim();
    core.saveFailed();
    assertThat(disk.drain()).containsExactly("take 10");
    core.check();
    assertThat(disk.drain()).as("the space is still to be freed").contains("take 10");
  }

  @Test
  void snapshotWaitsForFreeSpace() {
    SnapshotCore<Long> core = core();
    disk.fits = false;
    apply(core, 200);
    assertThat(disk.drain()).isEmpty();
    disk.fits = true;
    core.check();
    assertThat(disk.drain()).contains("take 200");
  }

  @Test
  void followerWaitsForSnapshotThatIsNewEnough() {
    disk.snapshots.add(5L);
    disk.applied = 10;
    SnapshotCore<Long> core = core();
    core.send(request(FOLLOWER, 1, 5));
    assertThat(disk.drain()).containsExactly("send 5 to 3");
    core.send(request(OTHER, 2, 6));
    assertThat(disk.drain()).containsExactly("take 10");
    save(core, 10);
    assertThat(disk.drain()).contains("send 10 to 4");
    core.check();
    assertThat(disk.drain()).as("sent once").noneMatch(effect -> effect.startsWith("send"));
  }

  @Test
  void receivedSnapshotIsSentButDoesNotCount() {
    disk.snapshots.add(50L);
    disk.applied = 10;
    SnapshotCore<Long> core = core();
    core.due(10);
    assertThat(disk.drain()).containsExactly("take 10");
    core.send(request(FOLLOWER, 1, 20));
    assertThat(disk.drain()).containsExactly("send 50 to 3");
    save(core, 10);
    assertThat(disk.drain()).containsExactly("release 10");
  }

  @Test
  void logIsKeptForReceiverUntilItHasCaughtUp() {
    SnapshotCore<Long> core = core();
    apply(core, 10);
    save(core, 10);
    core.send(request(FOLLOWER, 7, 10));
    disk.drain();
    apply(core, 20);
    save(core, 20);
    disk.snapshots.remove(10L);
    core.check();
    core.transferEnded(FOLLOWER, 7, true);
    core.replicated(replication(25, 0, PeerState.PROBE));
    assertThat(disk.drain()).containsExactly("take 20", "discard 20", "query");
    core.replicated(replication(25, 25, PeerState.REPLICATE));
    assertThat(disk.drain()).containsExactly("release 20");
    core.check();
    assertThat(disk.drain()).as("no receiver is left").isEmpty();
  }

  @Test
  void logOfSlowReceiverIsReleasedAboveLimit() {
    SnapshotCore<Long> core = core();
    apply(core, 10);
    save(core, 10);
    core.send(request(FOLLOWER, 7, 10));
    disk.snapshots.remove(10L);
    apply(core, 20);
    disk.log = new LogExtent(List.of(new LogExtent.Segment(20, 501)), 0);
    disk.drain();
    save(core, 20);
    assertThat(disk.drain()).containsExactly("lost 3 at 10 with 501", "release 20");
    assertThat(disk.retained).isEqualTo(LogRetention.Retained.NOTHING);
  }

  @Test
  void nearlyFullDiskKeepsOnlySnapshotOfThisProcess() {
    disk.snapshots.add(5L);
    disk.snapshots.add(8L);
    disk.applied = 8;
    disk.low = true;
    SnapshotCore<Long> core = core();
    core.check();
    assertThat(disk.drain())
        .as("both snapshots of the earlier run may be needed")
        .containsExactly("discard 8 all", "release 5");
    core.send(request(FOLLOWER, 7, 8));
    disk.drain();
    apply(core, 9);
    save(core, 9);
    assertThat(disk.drain()).containsExactly("take 9", "lost 3 at 8", "release 9");
    core.check();
    core.check();
    assertThat(disk.drain())
        .as("one removal at a time")
        .containsExactly("delete before 9", "discard 9 all", "discard 9 all");
    core.olderDeleted(9, true);
    core.check();
    assertThat(disk.drain()).as("nothing older is left").containsExactly("discard 9 all");
  }

  @Test
  void nearlyFullDiskProposesEntryToReplaceSnapshotWithRewrittenFiles() {
    disk.low = true;
    SnapshotCore<Long> core = core();
    apply(core, 9);
    save(core, 9);
    disk.drain();
    disk.rewritten = true;
    core.check();
    core.check();
    assertThat(disk.drain().stream().filter("propose"::equals)).as("one at a time").hasSize(1);
    core.proposed();
    core.check();
    assertThat(disk.drain()).as("nothing was applied").contains("propose");
    disk.applied = 10;
    core.check();
    assertThat(disk.drain()).contains("take 10");
  }

  @Test
  void failedReadKeepsKnownSnapshots() {
    disk.snapshots.add(5L);
    disk.applied = 9;
    SnapshotCore<Long> core = core();
    disk.unreadable = true;
    core.damagedRemoved();
    assertThat(disk.drain()).containsExactly("take 9");
    core.check();
    assertThat(disk.drain()).as("of the snapshot before").contains("release 5");
  }

  @Test
  void removedDamagedSnapshotIsReplacedByOneOfSameIndex() {
    SnapshotCore<Long> core = core();
    apply(core, 9);
    save(core, 9);
    disk.drain();
    disk.snapshots.clear();
    core.damagedRemoved();
    assertThat(disk.drain()).containsExactly("take 9");
  }
}
