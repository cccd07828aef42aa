package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.RangeResponse;
import io.grpc.StatusRuntimeException;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Flips bytes in the files of a member. The member must report what is damaged and where, and exit
 * with code 4; it tolerates only an unfinished record at the end of the log.
 */
@Tag("full")
@HeapIndependent
class DamageIT {
  private static final int CORRUPT = 4;
  private static final Map<String, String> SETTINGS =
      Map.of(
          "snapshot-count", "1000000",
          "snapshot-min-interval", "0ms",
          "wal-segment-size", "1MiB",
          "store.write-buffer-bytes", "64MiB");
  private static final Map<String, String> WITH_SNAPSHOTS =
      Map.of(
          "snapshot-count", "100",
          "snapshot-min-interval", "0ms",
          "wal-segment-size", "1MiB",
          "store.write-buffer-bytes", "4MiB");

  private final Path temp;
  private final Path data;
  private final Jdk jdk;
  private Map<String, String> settings = SETTINGS;
  private int starts;

  DamageIT(@TempDir Path temp) {
    this.temp = temp;
    this.data = temp.resolve("data");
    this.jdk = TestJdks.all().get(0);
  }

  private final Random random = new Random(5);
  private final Map<String, String> written = new TreeMap<>();

  @BeforeEach
  void nothingWrittenYet() {
    written.clear();
  }

  @AfterEach
  void tell() {
    System.out.println("starts=" + starts + " keys=" + written.size());
  }

  @Test
  void flippedByteInOldSegmentStopsStart() throws Exception {
    fillAndKill(160);
    Path old = data.resolve("wal").resolve(sorted(data.resolve("wal"), name -> true).get(0));
    flip(old.resolve("19700101F.cq4"), 300_000);
    assertRefused("log segment " + old.getFileName() + " at byte ");
  }

  @Test
  void tornTailOfLastSegmentKeepsAcknowledgedWrites() throws Exception {
    fillAndKill(40);
    List<String> segments = sorted(data.resolve("wal"), name -> true);
    Path file =
        data.resolve("wal").resolve(segments.get(segments.size() - 1)).resolve("19700101F.cq4");
    overwriteBehindLastRecord(file);
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertThat(member.err()).contains("the log ends in an unfinished write");
      assertEverythingThere(client);
    }
  }

  @Test
  void flippedByteInTableFileStopsMemberAtStartOrRead() throws Exception {
    settings = WITH_SNAPSHOTS;
    fillAndKill(250);
    Path state = data.resolve("state");
    int flipped = 0;
    for (String name : sorted(state, file -> file.endsWith(".sst"))) {
      long size = Files.size(state.resolve(name));
      if (size > 100_000) {
        flip(state.resolve(name), size / 2);
        flipped++;
      }
    }
    assertThat(flipped).isPositive();
    try (NodeProcess member = start()) {
      try (EtcdClient client = readyOrEnded(member)) {
        if (member.isAlive()) {
          readAll(client);
        }
      }
      assertThat(member.awaitExit()).as(member.err()).isEqualTo(CORRUPT);
      assertThat(member.err()).contains("exit-code=4").contains(".sst");
    }
  }

  @Test
  void flippedByteInIdentityStopsStart() throws Exception {
    fillAndKill(3);
    flip(data.resolve("identity"), 20);
    assertRefused(data.resolve("identity") + ": ");
  }

  private List<String> manifests() throws IOException {
    return sorted(data.resolve("snapshots"), name -> name.endsWith(".manifest"));
  }

  /** The procedure of operations.md: empty the state directory, start. */
  private void emptyStateAndExpectEverything() throws Exception {
    CrashCampaign.emptyDirectory(data.resolve("state"));
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertEverythingThere(client);
      client.put("after", "the restore", 0);
    }
  }

  @Test
  void lostStateIsRestoredFromNewestSnapshotAndLog() throws Exception {
    settings = WITH_SNAPSHOTS;
    fillAndKill(450);
    emptyStateAndExpectEverything();
  }

  @Test
  void lostStateWithoutSnapshotsIsRestoredFromWholeLog() throws Exception {
    fillAndKill(100);
    assertThat(manifests()).isEmpty();
    emptyStateAndExpectEverything();
  }

  @Test
  void lostStateAndDamagedNewestManifestAreRestoredFromOlderSnapshot() throws Exception {
    settings = WITH_SNAPSHOTS;
    fillAndKill(450);
    List<String> manifests = manifests();
    assertThat(manifests).hasSizeGreaterThanOrEqualTo(2);
    flip(data.resolve("snapshots").resolve(manifests.get(manifests.size() - 1)), 40);
    emptyStateAndExpectEverything();
  }

  @Test
  void lostStateAndDamagedNewestContentAreRestoredFromOlderSnapshot() throws Exception {
    settings = WITH_SNAPSHOTS;
    fillAndKill(450);
    List<String> manifests = manifests();
    assertThat(manifests).hasSizeGreaterThanOrEqualTo(2);
    String newest = manifests.get(manifests.size() - 1).replace(".manifest", "");
    String older = manifests.get(manifests.size() - 2).replace(".manifest", "");
    Path snapshots = data.resolve("snapshots");
    List<String> own =
        sorted(
            snapshots.resolve(newest),
            name -> name.endsWith(".sst") && !Files.exists(snapshots.resolve(older).resolve(name)));
    assertThat(own).as("tables that only the newest snapshot has").isNotEmpty();
    flip(snapshots.resolve(newest).resolve(own.get(0)), 200);
    emptyStateAndExpectEverything();
  }

  /** The second table of the page: the damaged snapshot may be removed, or kept. */
  @Test
  void lostSnapshotsAreNotNeededWithState() throws Exception {
    settings = WITH_SNAPSHOTS;
    fillAndKill(450);
    CrashCampaign.emptyDirectory(data.resolve("snapshots"));
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertEverythingThere(client);
      Awaitility.await("a new snapshot").until(() -> !manifests().isEmpty());
    }
  }

  @Test
  void lostStateWithoutUndamagedSnapshotIsRefused() throws Exception {
    settings = WITH_SNAPSHOTS;
    fillAndKill(450);
    Path snapshots = data.resolve("snapshots");
    List<String> manifests = manifests();
    assertThat(manifests).hasSizeGreaterThanOrEqualTo(1);
    String newest = manifests.get(manifests.size() - 1);
    for (String manifest : manifests) {
      flip(snapshots.resolve(manifest), 40);
    }
    // An undamaged state needs no snapshot.
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      assertEverythingThere(client);
    }
    for (String other : manifests()) {
      if (other.compareTo(newest) > 0) {
        flip(snapshots.resolve(other), 40);
      }
    }
    CrashCampaign.emptyDirectory(data.resolve("state"));
    assertRefused("no undamaged snapshot");
  }

  private void fillAndKill(int puts) throws Exception {
    try (NodeProcess member = start().awaitReady();
        EtcdClient client = new EtcdClient(member.port())) {
      for (int i = 0; i < puts; i++) {
        String key = String.format("key%05d", i);
        String value = i + " " + incompressible();
        client.put(key, value, 0);
        written.put(key, value);
      }
      member.kill();
    }
  }

  private String incompressible() {
    byte[] content = new byte[9000];
    random.nextBytes(content);
    return Base64.getEncoder().encodeToString(content);
  }

  private NodeProcess start() {
    starts++;
    return NodeProcess.member(jdk, temp, CrashCampaign.QUICK_START)
        .named("member-" + starts)
        .settings(settings)
        .start();
  }

  private void assertRefused(String what) throws Exception {
    try (NodeProcess member = start()) {
      assertThat(member.awaitExit()).as(member.err()).isEqualTo(CORRUPT);
      assertThat(member.err()).contains("exit-code=4").contains(what);
    }
  }

  private static EtcdClient readyOrEnded(NodeProcess member) {
    try {
      member.awaitReady();
    } catch (IllegalStateException ended) {
      assertThat(member.isAlive()).as(ended.getMessage()).isFalse();
    }
    return new EtcdClient(member.port());
  }

  private static void readAll(EtcdClient client) {
    try {
      RangeResponse found = client.range("key", "kez", 0);
      throw new AssertionError("read " + found.getKvsCount() + " keys from a damaged table file");
    } catch (StatusRuntimeException refused) {
      assertThat(refused.getStatus().isOk()).isFalse();
    }
  }

  private void assertEverythingThere(EtcdClient client) {
    Map<String, String> found = new TreeMap<>();
    client
        .range("key", "kez", 0)
        .getKvsList()
        .forEach(kv -> found.put(kv.getKey().toStringUtf8(), kv.getValue().toStringUtf8()));
    assertThat(found).isEqualTo(written);
  }

  private static List<String> sorted(Path directory, Predicate<String> wanted) throws IOException {
    try (Stream<Path> found = Files.list(directory)) {
      return found
          .map(path -> path.getFileName().toString())
          .filter(wanted)
          .sorted(Comparator.naturalOrder())
          .toList();
    }
  }

  private static void flip(Path file, long at) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      open.seek(at);
      int old = open.read();
      open.seek(at);
      open.write(old ^ 0x10);
    }
  }

  /** As a crash during a write leaves it: bytes of an unfinished record. */
  private static void overwriteBehindLastRecord(Path file) throws IOException {
    try (RandomAccessFile open = new RandomAccessFile(file.toFile(), "rw")) {
      byte[] content = new byte[(int) open.length()];
      open.readFully(content);
      int end = content.length;
      while (end > 0 && content[end - 1] == 0) {
        end--;
      }
      open.seek(end + 8L);
      open.write("half of a record".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }
  }
}
