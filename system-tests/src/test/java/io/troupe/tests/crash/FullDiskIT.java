package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A member on a 500 MB file system that becomes full; 16 MB are its reserve. Needs root for the
 * mount; fails without. The limit is three quarters of the file system: a deletion writes the
 * deleted values to the history, and RocksDB may rewrite the whole state again while the newest
 * snapshot, and one that is being saved, hold older files.
 */
@NeedsRoot
@HeapIndependent
class FullDiskIT {
  private static final int DISK_FAILURE = 5;
  private static final long SEED = 7;
  private static final long RESERVE_BYTES = 16 << 20;
  private static final Map<String, String> SETTINGS =
      Map.of(
          "snapshot-count", "1000000000",
          "snapshot-min-interval", "0ms",
          "wal-segment-size", "1MiB",
          "min-free-disk-bytes", "372MiB",
          "store.write-buffer-bytes", "4MiB");

  private final Path temp;
  private final Path disk;
  private final Jdk jdk;
  private final Random random = new Random(SEED);
  private final Map<String, ByteString> acknowledged = new HashMap<>();
  private int starts;

  FullDiskIT(@TempDir Path temp) {
    this.temp = temp;
    this.disk = temp.resolve("disk");
    this.jdk = TestJdks.all().get(0);
  }

  @BeforeEach
  void mount() throws IOException {
    Files.createDirectories(disk);
    Commands.run(
        "mount", "-t", "tmpfs", "-o", "size=500m,mode=0700", "troupe-test", disk.toString());
  }

  @AfterEach
  void unmount() {
    Commands.run("umount", "-l", disk.toString());
  }

  @Test
  void writesAreRefusedOnLowDiskSpaceAndResumeWhenSpaceIsFreed() throws Exception {
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      int refusals = 0;
      do {
        refusals++;
        String refusal = fill(client, "fill" + refusals + "-");
        assertThat(refusal)
            .as(member.err())
            .isEqualTo("RESOURCE_EXHAUSTED etcdserver: mvcc: database space exceeded");
        assertThat(Files.getFileStore(disk).getUsableSpace())
            .as("free when refused: the limit less what half a second and a compaction may write")
            .isGreaterThan(8L << 20);
        System.out.println("refused after keys=" + acknowledged.size());
        // At first the log fills the disk: a snapshot truncates it.
      } while (acceptedWithin(client, Duration.ofSeconds(20)));
      assertThat(refusals).as("space of the log came back by itself").isGreaterThan(1);
      assertEverythingThere(client);

      for (String key :
          acknowledged.keySet().stream().sorted().limit(acknowledged.size() * 9L / 10).toList()) {
        client.delete(key);
        acknowledged.remove(key);
      }
      long revision = client.range("none", "nonf", 0).getHeader().getRevision();
      client.compact(revision, true);
      client.defragment();
      long started = System.nanoTime();
      // No writes follow, but deleted versions must leave the disk.
      assertThat(acceptedWithin(client, Duration.ofSeconds(60))).as(member.err()).isTrue();
      System.out.println("accepted again after ms=" + (System.nanoTime() - started) / 1_000_000);
      for (int i = 0; i < 20; i++) {
        // Near the limit a put may be refused until a snapshot truncates the log again.
        assertThat(acceptedWithin(client, Duration.ofSeconds(60))).as(member.err()).isTrue();
      }
      assertEverythingThere(client);
      member.kill();
    }
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertEverythingThere(client);
    }
  }

  @Test
  void memberStartsOnFullDiskAndServesAgainWhenSpaceIsFreed() throws Exception {
    Path filler = disk.resolve("filler");
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      for (int i = 0; i < 500; i++) {
        put(client, "first" + i);
      }
      Path reserve = disk.resolve("data").resolve("reserve");
      Awaitility.await("reserve").atMost(Duration.ofMinutes(1)).until(() -> Files.exists(reserve));
      Awaitility.await("all of it").until(() -> Files.size(reserve) == RESERVE_BYTES);
      fillTheDisk(filler);
      // Deletions are allowed on a nearly full disk, so the log grows until the disk is full. The
      // file grows with it: a compaction or a snapshot may free space at any time, and a snapshot
      // then truncates the log every second.
      int refused = 0;
      for (int i = 0; member.isAlive() && i < 200_000; i++) {
        try {
          client.delete("absent" + i);
          fillTheDisk(filler);
        } catch (StatusRuntimeException e) {
          refused++;
          Pause.millis(5);
        }
      }
      assertThat(member.awaitExit()).as(member.err()).isEqualTo(DISK_FAILURE);
      assertThat(member.err()).contains("exit-code=5").contains("No space left on device");
      assertThat(refused).isPositive();
    }
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertThat(member.err()).contains("disk is full, released the reserve");
      assertEverythingThere(client);
      assertThat(accepted(client)).as("puts stay refused").isFalse();
      client.delete("first0");
      acknowledged.remove("first0");
      assertEverythingThere(client);
      Files.delete(filler);
      assertThat(acceptedWithin(client, Duration.ofSeconds(10))).as(member.err()).isTrue();
      Path reserve = disk.resolve("data").resolve("reserve");
      Awaitility.await("reserve for the next time")
          .atMost(Duration.ofMinutes(1))
          .until(() -> Files.exists(reserve) && Files.size(reserve) == RESERVE_BYTES);
      fillTheDisk(filler);
      member.kill();
    }
    // A kill on a full disk does no harm either; without a reserve the operator must free space.
    Files.delete(disk.resolve("data").resolve("reserve"));
    fillTheDisk(disk.resolve("filler-of-the-reserve"));
    try (NodeProcess member = start()) {
      assertThat(member.awaitExit()).as(member.err()).isEqualTo(DISK_FAILURE);
      assertThat(member.err()).contains("exit-code=5");
    }
    Files.delete(disk.resolve("filler-of-the-reserve"));
    Files.delete(filler);
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertEverythingThere(client);
      assertThat(accepted(client)).isTrue();
    }
  }

  private NodeProcess start() {
    starts++;
    return NodeProcess.member(jdk, temp, CrashCampaign.QUICK_START)
        .named("member-" + starts)
        .settings(SETTINGS)
        .setting("data-dir", disk.resolve("data").toString())
        .start();
  }

  /** Puts until the member refuses one. */
  private String fill(EtcdClient client, String prefix) {
    for (int i = 0; i < 20_000; i++) {
      try {
        put(client, String.format("%s%05d", prefix, i));
      } catch (StatusRuntimeException e) {
        return e.getStatus().getCode() + " " + e.getStatus().getDescription();
      }
    }
    throw new AssertionError("never refused");
  }

  private void put(EtcdClient client, String key) {
    byte[] value = new byte[8192];
    random.nextBytes(value);
    ByteString content = ByteString.copyFrom(value);
    client.putBytes(EtcdClient.bytes(key), content);
    acknowledged.put(key, content);
  }

  private boolean acceptedWithin(EtcdClient client, Duration timeout) {
    try {
      Awaitility.await()
          .atMost(timeout)
          .pollInterval(Duration.ofMillis(200))
          .until(() -> accepted(client));
      return true;
    } catch (ConditionTimeoutException refusedAllTheTime) {
      return false;
    }
  }

  private boolean accepted(EtcdClient client) {
    try {
      put(client, "again");
      return true;
    } catch (StatusRuntimeException e) {
      if (e.getStatus().getCode() == Status.Code.RESOURCE_EXHAUSTED) {
        return false;
      }
      throw e;
    }
  }

  /** Appends to the file until the disk has no free block. */
  private static void fillTheDisk(Path filler) throws IOException {
    byte[] block = new byte[4096];
    try (OutputStream out =
        Files.newOutputStream(filler, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      if (!String.valueOf(full.getMessage()).contains("No space left")) {
        throw full;
      }
    }
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
    assertThat(found.keySet()).isEqualTo(acknowledged.keySet());
    assertThat(found.equals(acknowledged)).as("values").isTrue();
  }
}
