package io.troupe.persistence.wal;

import static io.troupe.persistence.wal.WalFixture.entries;
import static io.troupe.persistence.wal.WalFixture.state;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.testing.NeedsRoot;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A full disk throws an exception before anything is acknowledged, and never faults in mapped
 * memory. Needs root, for a small file system of its own; without it the test fails.
 */
@NeedsRoot
class WalDiskFullTest {
  private static final WalSettings SETTINGS = new WalSettings(1 << 20, 64 << 10);

  private final Path mount;

  WalDiskFullTest(@TempDir Path temp) {
    this.mount = temp.resolve("small");
  }

  @BeforeEach
  void mount() throws Exception {
    Files.createDirectory(mount);
    run("mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", mount.toString());
  }

  @AfterEach
  void unmount() throws Exception {
    run("umount", "-l", mount.toString());
  }

  @Test
  void fullDiskIsDetectedBeforeAcknowledgement() {
    Path dir = mount.resolve("wal");
    ChronicleWal wal = ChronicleWal.open(dir, SETTINGS, WalReplay.read(dir, 0));
    long[] synced = {0};
    WalException e =
        catchThrowableOfType(
            WalException.class,
            () -> {
              for (long i = 1; i < 100_000; i++) {
                wal.append(state(1, 0, 0), entries(1, i, i, 2000));
                wal.sync();
                synced[0] = i;
              }
            });
    assertThat(e.kind()).isEqualTo(WalException.Kind.DISK_FULL);
    assertThat(synced[0]).isGreaterThan(1000);
    wal.close();
    WalReplay replay = WalReplay.read(dir, 0);
    assertThat(replay.lastIndex()).isGreaterThanOrEqualTo(synced[0]);
    assertThat(replay.entries().subList(0, (int) synced[0]))
        .isEqualTo(entries(1, 1, synced[0], 2000));
  }

  @Test
  void diskFilledByOtherFilesWithinSegmentIsDetected() throws IOException {
    Path dir = mount.resolve("wal");
    ChronicleWal wal = ChronicleWal.open(dir, SETTINGS, WalReplay.read(dir, 0));
    wal.append(state(1, 0, 0), entries(1, 1, 10, 100));
    wal.sync();
    fill(mount.resolve("other"));
    long[] synced = {10};
    WalException e =
        catchThrowableOfType(
            WalException.class,
            () -> {
              for (long i = 11; i < 10_000; i++) {
                wal.append(state(1, 0, 0), entries(1, i, i, 2000));
                wal.sync();
                synced[0] = i;
              }
            });
    assertThat(e.kind()).isEqualTo(WalException.Kind.DISK_FULL);
    wal.close();
    // There is no space for a new segment either: the start fails and does not change the log.
    WalReplay replay = WalReplay.read(dir, 0);
    WalException again =
        catchThrowableOfType(
            WalException.class, () -> ChronicleWal.open(dir, SETTINGS, WalReplay.read(dir, 0)));
    assertThat(again == null || again.kind() == WalException.Kind.DISK_FULL).isTrue();
    Files.delete(mount.resolve("other"));
    WalReplay after = WalReplay.read(dir, 0);
    assertThat(after.entries()).isEqualTo(replay.entries());
    try (ChronicleWal next = ChronicleWal.open(dir, SETTINGS, after)) {
      long index = after.lastIndex() + 1;
      assertThat(index).isGreaterThan(synced[0]);
      next.append(state(1, 0, 0), entries(1, index, index, 10));
      next.sync();
    }
  }

  private static void fill(Path file) throws IOException {
    byte[] block = new byte[4096];
    try (var out = Files.newOutputStream(file)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
    }
  }

  private static void run(String... command) throws Exception {
    List<String> line = new ArrayList<>();
    Collections.addAll(line, command);
    Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
    String output =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    assertThat(process.waitFor())
        .as("%s (this test needs root): %s", String.join(" ", line), output)
        .isZero();
  }
}
