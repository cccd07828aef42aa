package io.troupe.actors.member;

import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.actors.snapshot.SnapshotActor;
import io.troupe.actors.snapshot.SnapshotSettings;
import io.troupe.actors.snapshot.TransferCommand;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.snapshot.SnapshotPlugin;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.SnapshotCommand;
import io.troupe.protocol.WalCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.pekko.actor.testkit.typed.javadsl.ActorTestKit;
import org.apache.pekko.actor.testkit.typed.javadsl.FishingOutcomes;
import org.apache.pekko.actor.testkit.typed.javadsl.TestProbe;
import org.apache.pekko.actor.typed.ActorRef;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;

/**
 * The snapshot actor with real files and a disk with the free space that the test sets. Probes
 * receive what it sends to other actors.
 */
abstract class SnapshotActorSetup {
  static final Duration NEVER = Duration.ofHours(1);
  final ActorTestKit kit = ActorTestKit.create("snapshots");
  final TestProbe<WalCommand> wal = kit.createTestProbe();
  final TestProbe<RaftCommand> raft = kit.createTestProbe();
  final TestProbe<TransferCommand> transfers = kit.createTestProbe();
  long catchUp;
  long dueEntries = 1000;
  long dueBytes = 256 << 20;
  final FakeDisk disk = new FakeDisk();
  final DataDir dataDir;
  MemberFiles files;

  static final class FakeDisk implements DiskCapacity {
    volatile boolean low;
    volatile long free = Long.MAX_VALUE;

    @Override
    public boolean isLow() {
      return low;
    }

    @Override
    public long freeBytes() {
      return free;
    }
  }

  SnapshotActorSetup(Path temp) {
    dataDir = DataDir.open(temp.resolve("data"));
    dataDir.bootstrap(
        new MemberIdentity(1, new NodeId(2), "test", List.of("http://localhost:2380"), "test"));
    files = open();
  }

  MemberFiles open() {
    return MemberFiles.open(dataDir, SmallSettings.SMALL, new MemberMetrics());
  }

  @AfterEach
  void stop() {
    kit.shutdownTestKit();
    files.wal().close();
    files.close();
  }

  ActorRef<SnapshotCommand> spawn(Duration lookAtDisk) {
    return kit.spawn(
        SnapshotActor.create(
            files,
            SnapshotPlugin.start(
                kit.system(), dataDir.snapshots(), "2", files.metrics().snapshots()::saved),
            new SnapshotActor.Settings(
                new SnapshotSettings(dueEntries, dueBytes, Duration.ZERO, 2L << 30),
                lookAtDisk,
                catchUp),
            new SnapshotActor.Links(
                wal.getRef(),
                raft.getRef(),
                transfers.getRef(),
                disk,
                new RequestIds(new NodeId(2), 1))));
  }

  long applyOne() {
    files.machine().noop(files.machine().appliedIndex() + 1, 1);
    files.machine().commit();
    return files.machine().appliedIndex();
  }

  void awaitSnapshot(long index) {
    Awaitility.await("snapshot " + index).until(() -> snapshots().contains(index));
  }

  /**
   * Possibly in two steps, because an older snapshot may be removed a little before this one is
   * known.
   */
  void expectReleased(long index) {
    raft.fishForMessage(
        Duration.ofSeconds(30),
        message ->
            message instanceof RaftCommand.SnapshotTaken taken && taken.index() < index
                ? FishingOutcomes.continueAndIgnore()
                : message.equals(new RaftCommand.SnapshotTaken(index))
                    ? FishingOutcomes.complete()
                    : FishingOutcomes.fail(message.toString()));
    wal.fishForMessage(
        Duration.ofSeconds(30),
        message ->
            message instanceof WalCommand.DropBefore drop && drop.index() <= index
                ? FishingOutcomes.continueAndIgnore()
                : message.equals(new WalCommand.DropBefore(index + 1))
                    ? FishingOutcomes.complete()
                    : FishingOutcomes.fail(message.toString()));
  }

  /**
   * Expects that the log reaches back to this snapshot: the first one, or the only one on a full
   * disk.
   */
  void expectOnlySnapshot(long index) {
    awaitSnapshot(index);
    expectReleased(index);
  }

  /** Expects that the second snapshot releases nothing: the log reaches back to the first one. */
  void expectSecondSnapshot(long index) {
    awaitSnapshot(index);
    raft.expectNoMessage(Duration.ofMillis(50));
  }

  boolean hasTwoSnapshotsAtMost() throws IOException {
    try (Stream<Path> list = Files.list(dataDir.snapshots())) {
      int manifests = snapshots().size();
      return manifests <= 2 && list.count() == 2L * manifests;
    }
  }

  void saveTwo(ActorRef<SnapshotCommand> actor) {
    long first = applyOne();
    actor.tell(new SnapshotCommand.Due(first, 1));
    expectOnlySnapshot(first);
    long second = applyOne();
    actor.tell(new SnapshotCommand.Due(second, 1));
    expectSecondSnapshot(second);
  }

  List<Long> snapshots() throws IOException {
    try (Stream<Path> list = Files.list(dataDir.snapshots())) {
      return list.map(path -> String.valueOf(path.getFileName()))
          .filter(name -> name.endsWith(".manifest"))
          .map(name -> Long.parseUnsignedLong(name.substring(0, 16), 16))
          .sorted()
          .toList();
    }
  }
}
