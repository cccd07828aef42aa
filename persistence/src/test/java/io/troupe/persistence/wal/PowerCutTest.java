package io.troupe.persistence.wal;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.persistence.store.RocksStore;
import io.troupe.testing.NeedsRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Simulates a power cut: the data directory is on a file system inside an image file, and a copy of
 * the image, taken while everything is open, contains only the forced data (and data that the
 * system happened to write back). The copy is mounted and read. Needs root; without it the test
 * fails.
 */
@NeedsRoot
class PowerCutTest {
  private final Path temp;
  private final Path image;
  private final Path disk;
  private final Path after;

  PowerCutTest(@TempDir Path temp) {
    this.temp = temp;
    this.image = temp.resolve("image");
    this.disk = temp.resolve("disk");
    this.after = temp.resolve("after");
  }

  @BeforeEach
  void makeADisk() throws Exception {
    Files.createDirectory(disk);
    Files.createDirectory(after);
    run("truncate", "-s", "96M", image.toString());
    run("mkfs.ext4", "-q", "-F", image.toString());
    run("mount", "-o", "loop", image.toString(), disk.toString());
  }

  @AfterEach
  void removeIt() throws Exception {
    run("umount", "-l", disk.toString());
  }

  @Test
  void forcedDataSurvivesPowerCut() throws Exception {
    long seed = 42;
    Random random = new Random(seed);
    MemberIdentity identity =
        new MemberIdentity(1, new NodeId(2), "m", List.of("http://m:2380"), "test");
    try (DataDir dir = DataDir.open(disk.resolve("data"))) {
      dir.bootstrap(identity);
      try (RocksStore store = RocksStore.open(dir.state(), CrashWriter.STORE);
          ChronicleWal wal =
              ChronicleWal.open(dir.wal(), CrashWriter.SETTINGS, WalReplay.read(dir.wal(), 0))) {
        SnapshotDirectory snapshots = new SnapshotDirectory(dir.snapshots());
        long index = 0;
        for (int round = 0; round < 8; round++) {
          long forced = index;
          int batches = 10 + random.nextInt(150);
          for (int i = 0; i < batches; i++) {
            List<Entry> batch = batch(random, index);
            index += batch.size();
            wal.append(new HardState(1, NodeId.NONE, index - 1), batch);
            wal.sync();
            forced = index;
            CrashWriter.apply(store, batch);
          }
          long snapshot = 0;
          if (round % 3 == 2) {
            Path content = snapshots.prepare(index, 1);
            store.checkpoint(content);
            snapshots.save(new SnapshotRef(index, 1, Bytes.EMPTY, content));
            wal.dropBefore(index - 50);
            snapshot = index;
          }
          int loose = random.nextInt(5);
          for (int i = 0; i < loose; i++) {
            List<Entry> unforced = batch(random, index);
            index += unforced.size();
            wal.append(new HardState(1, NodeId.NONE, index - 1), unforced);
            CrashWriter.apply(store, unforced);
          }
          cutAndRead(identity, forced, snapshot, "seed " + seed + " round " + round);
        }
      }
    }
  }

  private void cutAndRead(MemberIdentity identity, long forced, long snapshot, String what)
      throws Exception {
    Path copy = temp.resolve("copy");
    run("cp", "--sparse=always", image.toString(), copy.toString());
    run("mount", "-o", "loop", copy.toString(), after.toString());
    try (DataDir dir = DataDir.open(after.resolve("data"))) {
      assertThat(dir.identity()).as(what).isEqualTo(identity);
      long applied;
      try (RocksStore store = RocksStore.open(dir.state(), CrashWriter.STORE)) {
        applied = CrashWriter.applied(store);
        assertThat(store.get(Space.REV, CrashWriter.number(applied + 1))).as(what).isNull();
        assertThat(applied).as(what).isGreaterThanOrEqualTo(snapshot);
      }
      WalReplay replay = WalReplay.read(dir.wal(), 0);
      assertThat(replay.lastIndex()).as(what).isGreaterThanOrEqualTo(forced);
      assertThat(replay.compactedIndex()).as(what).isLessThanOrEqualTo(applied);
      for (Entry entry : replay.entries()) {
        assertThat(entry).as(what).isEqualTo(CrashWriter.entry(entry.index()));
      }
      assertThat(replay.entries()).hasSize((int) (replay.lastIndex() - replay.compactedIndex()));
      try (ChronicleWal wal = ChronicleWal.open(dir.wal(), CrashWriter.SETTINGS, replay)) {
        assertThat(wal.status().lastIndex()).isEqualTo(replay.lastIndex());
      }
      SnapshotDirectory snapshots = new SnapshotDirectory(dir.snapshots());
      snapshots.removeStrays();
      if (snapshot > 0) {
        SnapshotRef ref = snapshots.latest(Long.MAX_VALUE).orElseThrow();
        assertThat(ref.index()).as(what).isEqualTo(snapshot);
        snapshots.verify(ref);
      }
    } finally {
      run("umount", "-l", after.toString());
      Files.delete(copy);
    }
  }

  private static List<Entry> batch(Random random, long index) {
    List<Entry> batch = new ArrayList<>();
    int count = 1 + random.nextInt(20);
    for (int i = 1; i <= count; i++) {
      batch.add(CrashWriter.entry(index + i));
    }
    return batch;
  }

  private static void run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor())
        .as("%s (this test needs root): %s", String.join(" ", command), output.strip())
        .isZero();
  }
}
