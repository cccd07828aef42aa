package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.snapshot.SnapshotActorMessages;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.model.AlarmType;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.model.Operation;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.ReplicationReply;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.ReplicationStatus;
import io.troupe.raft.ReplicationStatus.PeerState;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.pekko.actor.testkit.typed.FishingOutcome;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the snapshot actor takes snapshots, removes them, and releases the log. */
class SnapshotActorTest extends SnapshotActorSetup {
  SnapshotActorTest(@TempDir Path temp) {
    super(temp);
  }

  @Test
  void reclaimTakesSnapshotOfAppliedStateOnce() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(NEVER);
    long first = applyOne();
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    expectOnlySnapshot(first);
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    actor.tell(new SnapshotCommand.Due(first, 1));
    raft.expectNoMessage(Duration.ofMillis(100));
    long second = applyOne();
    actor.tell(new SnapshotCommand.Due(second, 1));
    expectSecondSnapshot(second);
    assertThat(snapshots()).containsExactly(first, second);
  }

  @Test
  void twoSnapshotsAreKeptWhileDiskHasSpace() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(SmallSettings.SOON);
    for (int i = 0; i < 4; i++) {
      long index = applyOne();
      actor.tell(SnapshotCommand.Reclaim.INSTANCE);
      awaitSnapshot(index);
      if (i != 1) {
        expectReleased(Math.max(1, index - 1));
      }
    }
    long newest = files.machine().appliedIndex();
    assertThat(snapshots()).containsExactly(newest - 1, newest);
  }

  @Test
  void fullDiskTriggersSnapshotAndRemovesOlderOnes() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(SmallSettings.SOON);
    saveTwo(actor);
    long before = files.machine().appliedIndex();
    disk.low = true;
    expectReleased(before);
    long now = applyOne();
    expectOnlySnapshot(now);
    await(List.of(now));
    assertThat(before).isLessThan(now);
    assertThat(new SnapshotDirectory(dataDir.snapshots()).latest(Long.MAX_VALUE).orElseThrow())
        .satisfies(new SnapshotDirectory(dataDir.snapshots())::verify)
        .extracting(ref -> ref.index())
        .isEqualTo(now);
  }

  @Test
  void rewrittenFilesAreReleasedWithNextEntry() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(SmallSettings.SOON);
    long first = applyOne();
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    expectOnlySnapshot(first);
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    raft.expectNoMessage(Duration.ofMillis(100));
    expectSecondSnapshot(applyOne());
  }

  @Test
  void fullDiskProposesEntryToReleaseRewrittenFiles() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(SmallSettings.SOON);
    long first = applyOne();
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    expectOnlySnapshot(first);
    disk.low = true;
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    RaftCommand.Propose asked = raft.expectMessageClass(RaftCommand.Propose.class);
    assertThat(OperationCodec.decode(asked.proposal().operation()).operation())
        .isEqualTo(new Operation.AlarmGet(AlarmType.NONE));
    long second = applyOne();
    expectOnlySnapshot(second);
    await(List.of(second));
    raft.expectNoMessage(Duration.ofMillis(100));
  }

  /** By its own compactions, which this actor does not observe. */
  @Test
  void fullDiskReleasesFilesThatRocksDbRewrote() throws Exception {
    ActorRef<SnapshotCommand> actor = spawn(SmallSettings.SOON);
    for (int i = 0; i < 2; i++) {
      long index = files.machine().appliedIndex() + 1;
      Bytes key = Bytes.utf8("key");
      files.machine().apply(index, 1, new Operation.Put(key, key, 0, false, false, false));
      files.machine().commit();
      actor.tell(SnapshotCommand.Reclaim.INSTANCE);
      awaitSnapshot(index);
      if (i == 0) {
        expectReleased(index);
      }
    }
    // RocksDB merges the flushed files of the key soon after the second snapshot.
    disk.low = true;
    raft.fishForMessage(
        Duration.ofSeconds(30),
        message ->
            message instanceof RaftCommand.Propose
                ? FishingOutcomes.complete()
                : message instanceof RaftCommand.SnapshotTaken
                    ? FishingOutcomes.continueAndIgnore()
                    : FishingOutcomes.fail(message.toString()));
    await(List.of(files.machine().appliedIndex()));
    long index = applyOne();
    expectOnlySnapshot(index);
    await(List.of(index));
    raft.expectNoMessage(Duration.ofMillis(100));
  }

  @Test
  void snapshotOfEarlierRunIsRemovedOnlyAfterNewOne() throws Exception {
    ActorRef<SnapshotCommand> first = spawn(NEVER);
    saveTwo(first);
    List<Long> earlier = snapshots();
    kit.stop(first);

    disk.low = true;
    ActorRef<SnapshotCommand> second = spawn(SmallSettings.SOON);
    expectReleased(earlier.get(0));
    second.tell(new SnapshotCommand.Due(earlier.get(1), 1));
    raft.expectNoMessage(Duration.ofMillis(100));
    assertThat(snapshots()).as("both may be needed").isEqualTo(earlier);

    long index = applyOne();
    expectOnlySnapshot(index);
    await(List.of(index));
  }

  @Test
  void snapshotThatWouldFillDiskIsNotTaken() throws Exception {
    disk.low = true;
    disk.free = 0;
    ActorRef<SnapshotCommand> actor = spawn(NEVER);
    long index = applyOne();
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    actor.tell(new SnapshotCommand.Due(index, 1));
    raft.expectNoMessage(Duration.ofMillis(100));
    assertThat(snapshots()).isEmpty();
    disk.free = Long.MAX_VALUE;
    actor.tell(SnapshotCommand.Reclaim.INSTANCE);
    expectOnlySnapshot(index);
  }

  /**
   * The leader's next entry may need this follower: nothing is applied until the follower has a
   * snapshot.
   */
  @Test
  void followerReceivesSnapshotFromMemberThatAppliedNothingSinceStart() throws Exception {
    List<ConfChange> first =
        List.of(new ConfChange(ConfChange.Kind.ADD_VOTER, new NodeId(2), List.of("http://x:1")));
    files.machine().confChange(1, 1, new ConfEntry(null, first, Membership.EMPTY.after(first, 1)));
    files.machine().commit();
    assertThat(snapshots()).isEmpty();
    ActorRef<SnapshotCommand> actor = spawn(NEVER);
    actor.tell(new SnapshotCommand.Send(new NodeId(3), 1, 1, 1));
    TransferCommand.Start start = transfers.expectMessageClass(TransferCommand.Start.class);
    assertThat(start.snapshot().index()).isEqualTo(1);
    assertThat(snapshots()).containsExactly(1L);
    actor.tell(new SnapshotCommand.Send(new NodeId(4), 2, 1, 1));
    transfers.expectMessageClass(TransferCommand.Start.class);
    assertThat(snapshots()).as("one serves both").containsExactly(1L);
  }

  /** No single run applies enough entries for a snapshot, but all of them together do. */
  @Test
  void memberThatRestartsOftenTakesSnapshotsAndReleasesLog() throws Exception {
    dueEntries = 10;
    for (int start = 0; start < 7; start++) {
      ActorRef<SnapshotCommand> actor = spawn(SmallSettings.SOON);
      for (int i = 0; i < 5; i++) {
        applyOne();
      }
      if (start % 2 == 1) {
        awaitSnapshot(files.machine().appliedIndex());
        // The save ends with the removal of the oldest one, and the plugin outlives the actor.
        Awaitility.await("end of the save").until(this::hasTwoSnapshotsAtMost);
      } else {
        assertThat(snapshots()).as("start " + start).doesNotContain(files.machine().appliedIndex());
      }
      kit.stop(actor);
    }
    assertThat(snapshots()).containsExactly(20L, 30L);
    spawn(SmallSettings.SOON);
    List<Long> released = new ArrayList<>();
    while (!released.contains(20L)) {
      released.add(raft.expectMessageClass(RaftCommand.SnapshotTaken.class).index());
    }
    assertThat(released).isSorted().startsWith(10L);
  }

  @Test
  void longLogMakesSnapshotDueWithFewEntries() throws Exception {
    dueBytes = 3 << 20;
    spawn(SmallSettings.SOON);
    long index = applyOne();
    for (int i = 1; i <= 5; i++) {
      assertThat(snapshots()).isEmpty();
      Bytes megabyte = Bytes.wrap(new byte[1 << 20]);
      files
          .wal()
          .append(
              new HardState(1, NodeId.NONE, 0),
              List.of(new Entry(1, index + i, Entry.Kind.OPERATION, megabyte)));
      if (i == 1) {
        raft.expectNoMessage(Duration.ofMillis(50));
      }
    }
    awaitSnapshot(index);
  }

  /**
   * The receiver takes far longer to install its snapshot than the leader to take the next ones.
   */
  @Test
  void logIsKeptForReceiverUntilItHasCaughtUp() throws Exception {
    List<ConfChange> members =
        List.of(new ConfChange(ConfChange.Kind.ADD_VOTER, new NodeId(2), List.of("http://x:1")));
    files
        .machine()
        .confChange(1, 1, new ConfEntry(null, members, Membership.EMPTY.after(members, 1)));
    files.machine().commit();
    NodeId receiver = new NodeId(3);
    ActorRef<SnapshotCommand> actor = spawn(Duration.ofMillis(100));
    actor.tell(new SnapshotCommand.Send(receiver, 7, 1, 1));
    assertThat(transfers.fishForMessage(Duration.ofSeconds(10), SnapshotActorTest::untilStart))
        .isNotEmpty();
    actor.tell(SnapshotActorMessages.transferred(receiver, 7));
    for (int i = 0; i < 3; i++) {
      long index = applyOne();
      actor.tell(new SnapshotCommand.Due(index, 1));
      awaitSnapshot(index);
      assertThat(releasedUntilReplication(receiver, 0, PeerState.PROBE))
          .as("after snapshot " + index)
          .allMatch(released -> released <= 1);
    }
    assertThat(snapshots()).containsExactly(3L, 4L);
    releasedUntilReplication(receiver, 4, PeerState.REPLICATE);
    assertThat(raft.fishForMessage(Duration.ofSeconds(10), SnapshotActorTest::untilReleased))
        .last()
        .isEqualTo(new RaftCommand.SnapshotTaken(3));
  }

  private static FishingOutcome untilStart(TransferCommand message) {
    return message instanceof TransferCommand.Start
        ? FishingOutcomes.complete()
        : FishingOutcomes.continueAndIgnore();
  }

  /**
   * The snapshot before the two that are kept may be removed a little later than they are saved.
   */
  private static FishingOutcome untilReleased(RaftCommand message) {
    if (message instanceof RaftCommand.SnapshotTaken taken && taken.index() >= 3) {
      return taken.index() == 3 ? FishingOutcomes.complete() : FishingOutcomes.fail("" + taken);
    }
    return FishingOutcomes.continueAndIgnore();
  }

  /**
   * Replies to the next queries for the progress of the receiver; returns what was released
   * meanwhile.
   */
  private List<Long> releasedUntilReplication(NodeId receiver, long match, PeerState state) {
    List<Long> released = new ArrayList<>();
    int replies = 0;
    while (replies < 2) {
      RaftCommand message = raft.receiveMessage();
      if (message instanceof RaftCommand.SnapshotTaken taken) {
        released.add(taken.index());
      } else if (message instanceof RaftCommand.GetReplication get) {
        long last = files.machine().appliedIndex();
        get.replyTo()
            .tell(
                new ReplicationReply(
                    new ReplicationStatus(
                        new NodeId(2),
                        last,
                        new TreeMap<>(
                            Map.of(receiver, new ReplicationStatus.Peer(match, 1, state))))));
        replies++;
      }
      if (match > 0 && replies > 0) {
        return released;
      }
    }
    return released;
  }

  private void await(List<Long> wanted) throws Exception {
    long end = System.nanoTime() + Duration.ofSeconds(10).toNanos();
    while (!snapshots().equals(wanted) && System.nanoTime() - end < 0) {
      Thread.onSpinWait();
    }
    assertThat(snapshots()).isEqualTo(wanted);
  }
}
