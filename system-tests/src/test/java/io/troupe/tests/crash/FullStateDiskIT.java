package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * State and snapshots on a 128 MB file system that becomes full, the log on another one with free
 * space. Needs root for the mount; fails without.
 */
@NeedsRoot
class FullStateDiskIT {
  private static final int DISK_FAILURE = 5;
  private static final long SEED = 11;
  private static final Duration TIMEOUT = Duration.ofMinutes(1);

  private final Path temp;
  private final Path disk;
  private final Path filler;
  private final Jdk jdk;
  private final Random random = new Random(SEED);
  private final Map<String, ByteString> acknowledged = new HashMap<>();

  /** A failed write may have been applied, or may be applied by the next start. */
  private final Set<String> unknown = new HashSet<>();

  private int starts;

  FullStateDiskIT(@TempDir Path temp) {
    this.temp = temp;
    this.disk = temp.resolve("disk");
    this.filler = disk.resolve("filler");
    this.jdk = TestJdks.all().get(0);
  }

  @BeforeEach
  void mount() throws IOException {
    System.out.println("seed=" + SEED);
    Files.createDirectories(disk);
    Commands.run(
        "mount", "-t", "tmpfs", "-o", "size=128m,mode=0700", "troupe-test", disk.toString());
  }

  @AfterEach
  void unmount() {
    Commands.run("umount", "-l", disk.toString());
  }

  @Test
  void memberServesAgainAfterFullDiskDuringStateFlush() throws Exception {
    Map<String, String> settings =
        Map.of(
            "snapshot-count", "1000000000",
            "min-free-disk-bytes", "32MiB",
            "store.write-buffer-bytes", "4MiB");
    String name = "k".repeat(1000);
    try (NodeProcess member = start(settings).awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      for (int i = 0; i < 6000; i++) {
        put(client, name + i, 10);
      }
      Path reserve = disk.resolve("data").resolve("reserve");
      Awaitility.await("reserve").atMost(TIMEOUT).until(() -> Files.exists(reserve));
      fillTheDisk();
      Awaitility.await("puts are refused").atMost(TIMEOUT).until(() -> isRefused(client));
      // Deletions go to the log, and to write buffers of the state that cannot be flushed.
      int deleted = 0;
      while (member.isAlive() && deleted < 6000) {
        delete(client, name + deleted++);
      }
      System.out.println("deleted=" + deleted + " alive=" + member.isAlive());
      assertThat(member.awaitExit()).as(member.err()).isEqualTo(DISK_FAILURE);
      assertThat(member.err()).contains("exit-code=5").contains("No space left on device");
    }
    try (NodeProcess member = start(settings)) {
      // The reserve may suffice to serve on the full disk, or not.
      Awaitility.await("serves or ends")
          .atMost(TIMEOUT)
          .until(() -> !member.isAlive() || member.out().contains(NodeProcess.READY));
      System.out.println("serves on the full disk: " + member.isAlive());
      if (member.isAlive()) {
        try (EtcdClient client = new EtcdClient(member.port())) {
          assertEverythingThere(client);
          Files.delete(filler);
          Awaitility.await("puts are accepted").atMost(TIMEOUT).until(() -> !isRefused(client));
        }
        member.kill();
      } else {
        assertThat(member.awaitExit()).as(member.err()).isEqualTo(DISK_FAILURE);
        Files.delete(filler);
      }
    }
    try (NodeProcess member = start(settings).awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertEverythingThere(client);
      put(client, "after", 10);
      assertNothingLeftOfFailedSaves();
    }
  }

  /** Without a limit of free space the member attempts snapshots that cannot succeed. */
  @Test
  void fullDiskDuringSaveOfSnapshotKeepsServiceAndLeavesNothingBehind() throws Exception {
    Map<String, String> settings =
        Map.of(
            "snapshot-count", "200",
            "snapshot-min-interval", "0ms",
            "min-free-disk-bytes", "0",
            "store.write-buffer-bytes", "64MiB");
    try (NodeProcess member = start(settings).awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      for (int i = 0; i < 450; i++) {
        put(client, "before" + i, 4096);
      }
      Awaitility.await("two snapshots").atMost(TIMEOUT).until(() -> manifests().size() == 2);
      List<String> before = manifests();
      fillTheDisk();
      for (int i = 0; i < 450; i++) {
        String key = "full" + i;
        assertThatCode(() -> put(client, key, 4096)).as(member::err).doesNotThrowAnyException();
      }
      member.awaitLine("skipped snapshot, disk space too low");
      assertThat(manifests()).isEqualTo(before);
      assertNothingLeftOfFailedSaves();
      assertEverythingThere(client);
      Files.delete(filler);
      Awaitility.await("a snapshot of what was written meanwhile")
          .atMost(TIMEOUT)
          .until(() -> !manifests().isEmpty() && !manifests().equals(before));
      assertEverythingThere(client);
      assertNothingLeftOfFailedSaves();
      put(client, "after", 10);
      assertThat(member.err()).doesNotContain("exit-code");
    }
  }

  /**
   * Each file and each hard link takes an inode: with a limit of inodes a snapshot fails at each of
   * its steps in turn, although the disk has free bytes.
   */
  @Test
  void saveOfSnapshotThatFailsAtAnyStepLeavesNothingBehind() throws Exception {
    Map<String, String> settings =
        Map.of(
            "snapshot-count", "50",
            "snapshot-min-interval", "0ms",
            "min-free-disk-bytes", "0",
            "store.write-buffer-bytes", "64MiB");
    int ends = 0;
    NodeProcess member = start(settings).awaitReady();
    EtcdClient client = new EtcdClient(member.port());
    try {
      for (int free = 0; free <= 40; free += 4) {
        putRound(client);
        limitInodes(free);
        for (int i = 0; member.isAlive() && i < 120; i++) {
          tryPut(client, "k" + i);
        }
        unlimitInodes();
        // The process of a member that is ending stays for a moment: only a whole round of puts
        // shows that the member continues.
        if (!member.isAlive() || !tryPutRound(client)) {
          ends++;
          assertThat(member.awaitExit()).as(member.err()).isEqualTo(DISK_FAILURE);
          client.close();
          member = start(settings).awaitReady();
          client = new EtcdClient(member.port());
        }
        List<String> before = manifests();
        putRound(client);
        Awaitility.await("a snapshot, with " + free + " inodes before")
            .atMost(TIMEOUT)
            .until(() -> !manifests().equals(before));
        Awaitility.await("nothing is left")
            .atMost(TIMEOUT)
            .untilAsserted(this::assertNothingLeftOfFailedSaves);
        assertEverythingThere(client);
      }
      System.out.println("ends=" + ends);
    } finally {
      client.close();
      member.close();
    }
  }

  /** A limit below what is in use is refused: the member may have created a file meanwhile. */
  private void limitInodes(int free) {
    Awaitility.await("a limit of inodes")
        .atMost(TIMEOUT)
        .pollInterval(Duration.ofMillis(10))
        .untilAsserted(
            () ->
                Commands.run(
                    "mount", "-o", "remount,nr_inodes=" + (usedInodes() + free), disk.toString()));
  }

  private long usedInodes() throws IOException {
    // "files in use" of a tmpfs: total minus free.
    String figures = Commands.run("stat", "-f", "-c", "%c %d", disk.toString()).strip();
    int space = figures.indexOf(' ');
    return Long.parseLong(figures.substring(0, space))
        - Long.parseLong(figures.substring(space + 1));
  }

  private void unlimitInodes() {
    Commands.run("mount", "-o", "remount,nr_inodes=100000", disk.toString());
  }

  private NodeProcess start(Map<String, String> settings) {
    starts++;
    return NodeProcess.member(jdk, temp, CrashCampaign.QUICK_START)
        .named("member-" + starts)
        .setting("wal-segment-size", "1MiB")
        .settings(settings)
        .setting("data-dir", disk.resolve("data").toString())
        .setting("wal-dir", temp.resolve("log").toString())
        .start();
  }

  private void put(EtcdClient client, String key, int bytes) {
    byte[] value = new byte[bytes];
    random.nextBytes(value);
    ByteString content = ByteString.copyFrom(value);
    client.putBytes(EtcdClient.bytes(key), content);
    acknowledged.put(key, content);
    unknown.remove(key);
  }

  private boolean tryPut(EtcdClient client, String key) {
    try {
      put(client, key, 1000);
      return true;
    } catch (StatusRuntimeException e) {
      unknown.add(key);
      return false;
    }
  }

  private void putRound(EtcdClient client) {
    for (int i = 0; i < 120; i++) {
      put(client, "k" + i, 1000);
    }
  }

  /** Returns whether all puts succeeded; ends with the first that fails. */
  private boolean tryPutRound(EtcdClient client) {
    boolean done = true;
    for (int i = 0; done && i < 120; i++) {
      done = tryPut(client, "k" + i);
    }
    return done;
  }

  private void delete(EtcdClient client, String key) {
    try {
      client.delete(key);
      acknowledged.remove(key);
    } catch (StatusRuntimeException e) {
      unknown.add(key);
    }
  }

  private boolean isRefused(EtcdClient client) {
    try {
      put(client, "again", 10);
      return false;
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
      assertThat(e.getStatus().getDescription())
          .isEqualTo("etcdserver: mvcc: database space exceeded");
      return true;
    }
  }

  private void fillTheDisk() throws IOException {
    byte[] block = new byte[4096];
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      if (!String.valueOf(full.getMessage()).contains("No space left")) {
        throw full;
      }
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> found = Files.list(disk.resolve("data").resolve("snapshots"))) {
      return found.map(path -> path.getFileName().toString()).sorted().toList();
    }
  }

  private List<String> manifests() throws IOException {
    return names().stream().filter(name -> name.endsWith(".manifest")).toList();
  }

  /** Each file in the directory is a manifest or content that a manifest names. */
  private void assertNothingLeftOfFailedSaves() throws IOException {
    List<String> expected = new ArrayList<>();
    for (String manifest : manifests()) {
      expected.add(manifest);
      expected.add(manifest.replace(".manifest", ""));
    }
    assertThat(names()).containsExactlyInAnyOrderElementsOf(expected);
  }

  private void assertEverythingThere(EtcdClient client) {
    Map<String, ByteString> found = new HashMap<>();
    List<KeyValue> page;
    String from = "a";
    do {
      page = client.page(from, "z", 500);
      for (KeyValue kv : page) {
        from = kv.getKey().toStringUtf8() + "\0";
        found.put(kv.getKey().toStringUtf8(), kv.getValue());
      }
    } while (!page.isEmpty());
    Map<String, ByteString> expected = new HashMap<>(acknowledged);
    for (String key : unknown) {
      found.remove(key);
      expected.remove(key);
    }
    assertThat(found.keySet()).isEqualTo(expected.keySet());
    assertThat(found.equals(expected)).as("values").isTrue();
  }
}
