package io.troupe.actors.member;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.DataDir;
import io.troupe.persistence.datadir.DataDirException;
import io.troupe.persistence.datadir.MemberIdentity;
import io.troupe.persistence.snapshot.SnapshotDirectory;
import io.troupe.persistence.snapshot.SnapshotRef;
import io.troupe.persistence.wal.ChronicleWal;
import io.troupe.persistence.wal.WalReplay;
import io.troupe.persistence.wal.WalSettings;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** States that are restored from snapshots, with real files. */
class StateRestoreTest {
  private static final int BYTES = 24 << 20;

  private final DataDir dataDir;
  private final SnapshotDirectory snapshots;

  StateRestoreTest(@TempDir Path temp) {
    dataDir = DataDir.open(temp.resolve("data"));
    dataDir.bootstrap(
        new MemberIdentity(1, new NodeId(2), "test", List.of("http://localhost:2380"), "test"));
    snapshots = new SnapshotDirectory(dataDir.snapshots());
  }

  @AfterEach
  void close() {
    dataDir.close();
  }

  private Path save(long index) throws IOException {
    Path content = snapshots.prepare(index, 3);
    Files.createDirectories(content);
    byte[] table = new byte[BYTES];
    new Random(index).nextBytes(table);
    Files.write(content.resolve("000001.sst"), table);
    Files.writeString(content.resolve("CURRENT"), "snapshot " + index);
    snapshots.save(new SnapshotRef(index, 3, Bytes.EMPTY, content));
    return content;
  }

  private WalReplay logAfter(long index) {
    WalSettings small = new WalSettings(1 << 20, 64 << 10);
    WalReplay empty = WalReplay.read(dataDir.wal(), 0);
    try (ChronicleWal wal = ChronicleWal.open(dataDir.wal(), small, empty)) {
      wal.append(new HardState(3, NodeId.NONE, 0), List.of());
      wal.restartAfter(index);
    }
    return WalReplay.read(dataDir.wal(), 0);
  }

  private static void damage(Path content) throws IOException {
    try (RandomAccessFile file =
        new RandomAccessFile(content.resolve("000001.sst").toFile(), "rw")) {
      file.seek(BYTES / 2);
      int old = file.read();
      file.seek(BYTES / 2);
      file.write(old ^ 0x10);
    }
  }

  /** Bytes that this process has read so far, from the cache or the disk. */
  private static long bytesRead() throws IOException {
    String first = Files.readAllLines(Path.of("/proc/self/io")).get(0);
    return Long.parseLong(first.substring("rchar: ".length()));
  }

  @Test
  void installationReadsContentOnce() throws IOException {
    save(10);
    WalReplay log = logAfter(10);
    long before = bytesRead();
    StateRestore.replace(dataDir, log);
    assertThat(bytesRead() - before).isBetween((long) BYTES, BYTES * 3L / 2);
    assertThat(dataDir.state().resolve("CURRENT")).hasContent("snapshot 10");
  }

  @Test
  void emptyStateIsRestoredFromOlderSnapshotIfNewestIsDamaged() throws IOException {
    save(10);
    damage(save(20));
    StateRestore.ifEmpty(dataDir);
    assertThat(dataDir.state().resolve("CURRENT")).hasContent("snapshot 10");
  }

  @Test
  void stateIsKeptIfSnapshotThatReplacesItIsDamaged() throws IOException {
    Files.writeString(dataDir.state().resolve("CURRENT"), "old");
    damage(save(10));
    WalReplay log = logAfter(10);
    assertThatThrownBy(() -> StateRestore.replace(dataDir, log))
        .isInstanceOf(DataDirException.class)
        .hasMessageContaining("no undamaged snapshot");
    assertThat(dataDir.state().resolve("CURRENT")).hasContent("old");
  }

  @Test
  void emptyStateWithoutUndamagedSnapshotIsRefused() throws IOException {
    damage(save(10));
    logAfter(10);
    assertThatThrownBy(() -> StateRestore.ifEmpty(dataDir))
        .isInstanceOf(DataDirException.class)
        .hasMessageContaining("is empty, and no undamaged snapshot");
  }
}
