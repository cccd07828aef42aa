package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a new operator meets first: help, version, and starts that are refused. */
@HeapIndependent
class FirstStartIT {
  private static final String VERSION =
      "Troupe \\S+ \\((unknown|[0-9a-f]{10}), (unknown|\\d{4}-\\d\\d-\\d\\d)\\),"
          + " serves etcd API 3\\.7\\.1\\n";

  @TempDir Path directory = Path.of("");

  private Path data() {
    return directory.resolve("data");
  }

  private NodeProcess.Builder member() {
    return NodeProcess.member(TestJdks.running(), directory);
  }

  private NodeProcess jar(String... args) {
    return NodeProcess.jar(TestJdks.running(), directory, List.of()).args(args).start();
  }

  private NodeProcess script(String name, String... args) {
    return NodeProcess.program(directory, NodeProcess.script(name).toString())
        .environment("JAVA_HOME", TestJdks.running().home().toString())
        .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
        .environment("TROUPE_CACHE", directory.resolve("cache").toString())
        .args(args)
        .start();
  }

  @Test
  void versionIsPrintedOnStandardOutput() throws IOException {
    Files.createDirectory(directory.resolve("cache"));
    try (NodeProcess jar = jar("--version");
        NodeProcess node = script("node", "--version")) {
      for (NodeProcess each : List.of(jar, node)) {
        assertThat(each.awaitExit()).isZero();
        assertThat(each.out()).matches(VERSION);
        assertThat(each.err()).isEmpty();
      }
    }
    assertThat(directory.resolve("cache")).isEmptyDirectory();
  }

  @Test
  void helpListsSettingsAndFlags() throws IOException {
    Files.createDirectory(directory.resolve("cache"));
    try (NodeProcess jar = jar("--help", "-Dtroupe.data-dir=" + data());
        NodeProcess node = script("node", "-h");
        NodeProcess etcd = script("etcd", "--help")) {
      for (NodeProcess each : List.of(jar, node)) {
        assertThat(each.awaitExit()).isZero();
        assertThat(each.out())
            .contains("Usage:", "-Dconfig.file=FILE", "Length of a Raft tick")
            .contains("\n  troupe.heartbeat-interval = 100 ms\n")
            .contains("\n  troupe.store.write-buffer-bytes = 64 MiB\n");
        assertThat(each.err()).isEmpty();
      }
      assertThat(etcd.awaitExit()).isZero();
      assertThat(etcd.out())
          .contains("Usage:", "  --heartbeat-interval '100' (milliseconds)\n")
          .contains("Length of a Raft tick")
          .containsPattern("Setting:\\s+troupe\\.heartbeat-interval\\.");
      assertThat(etcd.err()).isEmpty();
    }
    assertThat(data()).doesNotExist();
    // No archive is made for a text.
    assertThat(directory.resolve("cache")).isEmptyDirectory();
  }

  @Test
  void firstLineAndMetricNameTheBuild() throws IOException, InterruptedException {
    try (NodeProcess node = member().start().awaitReady()) {
      String first =
          node.err().lines().filter(line -> !line.startsWith("WARNING:")).findFirst().orElse("");
      assertThat(first)
          .containsPattern("starting Troupe version=\\S+ commit=\\S+ commit-date=\\S+")
          .containsPattern("java-version=\\S+ heap-max=\\d+MiB")
          .contains("data-dir=" + data());
      assertThat(
              get(node, "/metrics")
                  .lines()
                  .filter(line -> line.startsWith("troupe_build_info{"))
                  .toList())
          .singleElement()
          .asString()
          .contains("version=\"", "commit=\"", "java_version=\"", "heap_max=\"", "etcd_version=\"")
          .doesNotContain(directory.toString());
    }
  }

  /** The JDK's default for TLS, which takes 0.1 s to make, fails here. */
  @Test
  void memberWithoutTlsUsesNoTls() throws IOException, InterruptedException {
    String missing = "-Djavax.net.ssl.keyStore=" + directory.resolve("missing");
    try (NodeProcess node =
        NodeProcess.member(TestJdks.running(), directory, missing).start().awaitReady()) {
      assertThat(get(node, "/health")).contains("\"health\":\"true\"");
    }
  }

  private static String get(NodeProcess node, String path)
      throws IOException, InterruptedException {
    return HttpClient.newHttpClient()
        .send(
            HttpRequest.newBuilder(URI.create("http://" + node.endpoint() + path)).build(),
            BodyHandlers.ofString())
        .body();
  }

  private static void isOneLine(NodeProcess node, int status, String... parts) {
    assertThat(node.awaitExit()).isEqualTo(status);
    List<String> lines = node.err().lines().filter(line -> !line.startsWith("WARNING:")).toList();
    assertThat(lines).hasSize(1);
    assertThat(lines.get(0)).contains(parts);
  }

  @Test
  void misspeltSettingIsRefused() throws IOException {
    Path file = directory.resolve("node.conf");
    Files.writeString(file, "tropue { name = x }\n");
    Path empty = directory.resolve("empty.conf");
    Files.writeString(empty, "# nothing\n");
    try (NodeProcess after = jar("-Dtropue.data-dir=" + data());
        NodeProcess before =
            NodeProcess.jar(TestJdks.running(), directory, List.of("-Dtroup.name=x"))
                .args("-Dtroupe.data-dir=" + data())
                .start();
        NodeProcess section = jar("-Dconfig.file=" + file);
        NodeProcess none = jar("-Dconfig.file=" + empty);
        NodeProcess key = jar("-Dtroupe.data-dri=" + data())) {
      isOneLine(after, 2, "-Dtropue.data-dir", "did you mean troupe.data-dir?");
      isOneLine(before, 2, "-Dtroup.name", "did you mean troupe.name?");
      isOneLine(section, 2, "tropue", "did you mean troupe?");
      isOneLine(none, 2, "has no section troupe");
      isOneLine(key, 2, "unknown key troupe.data-dri", "did you mean troupe.data-dir?");
    }
    assertThat(data()).doesNotExist();
  }

  @Test
  void fileInPlaceOfDataDirectoryIsRefused() throws IOException {
    Files.writeString(data(), "x");
    try (NodeProcess node = member().start()) {
      assertThat(node.awaitExit()).isEqualTo(8);
      assertThat(node.err())
          .contains("stopping cause=data-directory exit-code=8", data() + " is not a directory")
          .doesNotContain("\tat ");
    }
    assertThat(data()).hasContent("x");
  }

  @Test
  void directoryWithoutPermissionIsRefused() throws IOException {
    Files.createDirectory(
        data(), PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("r-xr-xr-x")));
    NodeProcess.Builder member = member();
    if (System.getProperty("user.name").equals("root")) {
      // root may write anywhere, unless it lacks these capabilities.
      String without = "-dac_override,-dac_read_search";
      member.under("setpriv", "--bounding-set=" + without, "--inh-caps=" + without);
    }
    try (NodeProcess node = member.start()) {
      assertThat(node.awaitExit()).isEqualTo(8);
      assertThat(node.err())
          .contains("exit-code=8", "has no permission for " + data(), "correct the path")
          .doesNotContain("\tat ");
    }
    assertThat(data()).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(strings = {"listen-client-urls", "listen-metrics-urls", "listen-peer-urls"})
  void usedAddressIsFoundBeforeAnythingIsWritten(String key) throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      String url = "http://127.0.0.1:" + taken.getLocalPort();
      try (NodeProcess node =
          member().setting(key, url).setting("initial-advertise-peer-urls", url).start()) {
        assertThat(node.awaitExit()).isEqualTo(7);
        assertThat(node.err())
            .contains("exit-code=7", "troupe." + key + " = " + url, "Address already in use")
            .contains("sport = :" + taken.getLocalPort())
            .doesNotContain("\tat ");
      }
      assertThat(data()).doesNotExist();
    }
  }

  /** The other process of the same member may be about to stop: that is worth a restart. */
  @Test
  void lockedDataIsReportedBeforeUsedAddress() {
    NodeProcess.Builder member = member();
    try (NodeProcess first = member.start().awaitReady();
        NodeProcess second = member.start()) {
      assertThat(second.awaitExit()).isEqualTo(3);
      assertThat(first.isAlive()).isTrue();
    }
  }

  @Tag("full")
  @Test
  void dataWithoutLogIsRefused() throws IOException {
    try (NodeProcess node = member().start().awaitReady()) {
      assertThat(node.stop()).isEqualTo(143);
    }
    DurableFiles.deleteTree(data().resolve("wal"));
    try (NodeProcess node = member().start()) {
      assertThat(node.awaitExit()).isEqualTo(4);
      assertThat(node.err())
          .contains("exit-code=4", "there is no log in " + data().resolve("wal"))
          .doesNotContain("\tat ");
    }
  }

  @Tag("full")
  @Test
  void dataOfAnotherClusterIsRefused() {
    List<String> peers = new ArrayList<>();
    List<String> entries = new ArrayList<>();
    for (int i = 1; i <= 3; i++) {
      peers.add("http://127.0.0.1:" + FreePort.next());
      entries.add("n" + i + "=" + peers.get(i - 1));
    }
    String cluster = String.join(",", entries);
    try (NodeProcess former = clusterMember(1, peers, cluster, "former").start()) {
      former.awaitLine("bootstrapped a new member");
      former.awaitLine("listening");
      former.stop();
    }
    try (NodeProcess two = clusterMember(2, peers, cluster, "present").start();
        NodeProcess three = clusterMember(3, peers, cluster, "present").start()) {
      two.awaitReady();
      three.awaitReady();
      try (NodeProcess wrong = clusterMember(1, peers, cluster, "present").start()) {
        assertThat(wrong.awaitExit()).isEqualTo(4);
        assertThat(wrong.err())
            .contains("exit-code=4", "belongs to cluster", peers.get(1), peers.get(2))
            .contains("belong to another cluster")
            .doesNotContain("\tat ");
      }
      assertThat(two.isAlive()).isTrue();
      assertThat(three.isAlive()).isTrue();
    }
  }

  /** README: with etcdctl 3.4 as it is, and without the variable that newer ones complain about. */
  @Test
  void etcdctlNeedsNoVariable() throws IOException {
    assertThat(Files.readString(Path.of("..", "README.md"))).doesNotContain("ETCDCTL_API");
    try (NodeProcess node = member().start().awaitReady();
        NodeProcess put = etcdctl(node.endpoint(), "put", "greeting", "hello")) {
      assertThat(put.awaitExit()).isZero();
      try (NodeProcess get = etcdctl(node.endpoint(), "get", "greeting")) {
        assertThat(get.awaitExit()).isZero();
        assertThat(get.out()).isEqualTo("greeting\nhello\n");
        assertThat(put.err() + get.err()).isEmpty();
      }
    }
  }

  private NodeProcess etcdctl(String endpoints, String... args) {
    return NodeProcess.program(
            directory, "env", "-u", "ETCDCTL_API", "etcdctl", "--endpoints=" + endpoints)
        .args(args)
        .start();
  }

  /** The example of the README, on its fixed ports. */
  @Tag("full")
  @Test
  void clusterScriptPrintsMembersAndEndpoints() throws IOException {
    Path cache = Files.createDirectory(directory.resolve("cache"));
    try (NodeProcess cluster =
        NodeProcess.program(
                directory,
                "bash",
                "-c",
                "cd " + directory + " && exec " + NodeProcess.script("cluster"))
            .environment("JAVA_HOME", TestJdks.running().home().toString())
            .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
            .environment("TROUPE_CACHE", cache.toString())
            .environment("TROUPE_ARCHIVE", "off")
            .start()) {
      String endpoints = "127.0.0.1:12379,127.0.0.1:22379,127.0.0.1:32379";
      Awaitility.await()
          .atMost(Duration.ofMinutes(2))
          .until(() -> !cluster.isAlive() || cluster.out().contains("  --endpoints=" + endpoints));
      assertThat(cluster.out())
          .contains("node1: clients http://127.0.0.1:12379 peers http://127.0.0.1:12380 pid ")
          .contains("node3: clients http://127.0.0.1:32379 ", "log data/node3.log");
      try (NodeProcess health = etcdctl(endpoints, "endpoint", "health")) {
        assertThat(health.awaitExit()).isZero();
      }
      assertThat(cluster.stop()).isEqualTo(143);
    }
    assertThat(directory.resolve("data/node2.log")).content().contains("stopping cause=signal");
  }

  private NodeProcess.Builder clusterMember(
      int number, List<String> peers, String cluster, String token) {
    String url = peers.get(number - 1);
    return NodeProcess.member(TestJdks.running(), directory.resolve("n" + number))
        .named(token + number)
        .setting("name", "n" + number)
        .setting("listen-peer-urls", url)
        .setting("initial-advertise-peer-urls", url)
        .setting("initial-cluster", cluster)
        .setting("initial-cluster-token", token);
  }
}
