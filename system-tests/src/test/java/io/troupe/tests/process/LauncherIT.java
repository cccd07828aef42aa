package io.troupe.tests.process;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The scripts bin/node (its archive: {@link LauncherArchiveIT}) and bin/etcd. */
@HeapIndependent
class LauncherIT {
  private static final String JDKS = "io.troupe.tests.process.TestJdks#all";

  @TempDir Path directory = Path.of("");

  private NodeProcess.Builder script(String name, Jdk jdk) {
    return NodeProcess.program(directory, NodeProcess.script(name).toString())
        .environment("JAVA_HOME", jdk.home().toString())
        .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
        .environment("TROUPE_HEAP", TestHeap.size())
        .environment("TROUPE_CACHE", directory.toString())
        .environment("TROUPE_ARCHIVE", "off");
  }

  private NodeProcess.Builder node(Jdk jdk) {
    return script("node", jdk)
        .args(
            "-Dtroupe.data-dir=" + directory.resolve("data"),
            "-Dtroupe.listen-client-urls=http://127.0.0.1:" + FreePort.next())
        .args(NodeProcess.peerPort().toArray(String[]::new));
  }

  @Test
  void nativeLibraryIsUnpackedOnce() throws IOException {
    Jdk jdk = TestJdks.running();
    try (NodeProcess first = node(jdk).start().awaitReady()) {
      first.kill();
    }
    Path library = library();
    FileTime made = Files.getLastModifiedTime(library);
    try (NodeProcess second =
        node(jdk).setting("data-dir", directory.resolve("other").toString()).start().awaitReady()) {
      assertThat(Files.readString(Path.of("/proc/" + second.pid() + "/maps")))
          .contains(library.toRealPath().toString());
    }
    assertThat(Files.getLastModifiedTime(library())).isEqualTo(made);
    try (Stream<Path> state = Files.list(directory.resolve("other/state"))) {
      assertThat(state).noneMatch(file -> file.toString().contains("rocksdbjni"));
    }
  }

  private Path library() throws IOException {
    try (Stream<Path> files = Files.walk(directory, 2)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("librocksdb"))
          .reduce(
              (a, b) -> {
                throw new AssertionError(a + " and " + b);
              })
          .orElseThrow();
    }
  }

  @Test
  void missingJdkIsReported() {
    try (NodeProcess node =
        node(TestJdks.running()).environment("JAVA_HOME", "/no/such/jdk").start()) {
      assertThat(node.awaitExit()).isEqualTo(2);
      assertThat(node.err()).contains("/no/such/jdk");
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void etcdScriptAcceptsEtcdFlags(Jdk jdk) {
    String url = "http://127.0.0.1:" + FreePort.next();
    String peerUrl = "http://127.0.0.1:" + FreePort.next();
    try (NodeProcess node =
        script("etcd", jdk)
            .args(
                "--name=first",
                "--data-dir",
                directory.resolve("data").toString(),
                "-listen-client-urls=" + url,
                "--advertise-client-urls",
                url,
                "--listen-peer-urls=" + peerUrl,
                "--initial-advertise-peer-urls=" + peerUrl,
                "--heartbeat-interval=50",
                "--election-timeout",
                "500",
                "--initial-advertise-peer-urls=http://127.0.0.1:1,http://127.0.0.1:2",
                "--initial-cluster",
                "last-wins=http://127.0.0.1:1,last-wins=http://127.0.0.1:2",
                "--initial-cluster-state=new",
                "--strict-reconfig-check",
                "--max-learners=2",
                "--name",
                "last-wins")
            .start()
            .awaitReady()) {
      assertThat(node.err())
          .contains("\"name\":\"last-wins\"", "\"client-urls\":[\"" + url + "\"]");
      node.terminate();
      assertThat(node.awaitExit()).isEqualTo(143);
    }
  }

  private NodeProcess etcd(String... flags) {
    return script("etcd", TestJdks.running()).args(flags).start();
  }

  @Test
  void etcdPrintsVersionAlsoAmongOtherFlags_F4() {
    try (NodeProcess first = etcd("--version");
        NodeProcess later = etcd("--name=x", "--version")) {
      assertThat(first.awaitExit()).isZero();
      assertThat(first.out().lines().toList()).hasSize(4);
      assertThat(first.out()).startsWith("etcd Version: 3.7.1\nGit SHA: ");
      assertThat(first.err()).isEmpty();
      assertThat(later.awaitExit()).isZero();
      assertThat(later.out()).isEqualTo(first.out());
    }
  }

  @Test
  void etcdReportsUnknownFlag() {
    try (NodeProcess etcd = etcd("--no-such-flag=1")) {
      assertThat(etcd.awaitExit()).isEqualTo(2);
      assertThat(etcd.err()).contains("flag provided but not defined: -no-such-flag");
    }
  }

  /** F3: a value that only the settings refuse. */
  @Test
  void wrongSettingExitsWithOne() {
    try (NodeProcess etcd = etcd("--election-timeout=200")) {
      assertThat(etcd.awaitExit()).isEqualTo(1);
      assertThat(etcd.err()).contains("troupe.election-timeout");
    }
  }

  private static Stream<Arguments> lateMistakes() {
    String secure = "--listen-client-urls=https://127.0.0.1:" + FreePort.next();
    String advertised = "--advertise-client-urls=https://127.0.0.1:1";
    return Stream.of(
        Arguments.of("troupe.initial-cluster", List.of("--initial-cluster=y=http://127.0.0.1:1")),
        Arguments.of(
            "troupe.initial-cluster",
            List.of("--name=y", "--initial-cluster=y=http://127.0.0.1:1")),
        Arguments.of("troupe.auth-token", List.of("--auth-token=foo")),
        Arguments.of("troupe.auth-token", List.of("--auth-token=jwt")),
        Arguments.of("troupe.cipher-suites", List.of("--cipher-suites=TLS_NO_SUCH")),
        Arguments.of(
            "troupe.client-transport-security",
            List.of(secure, advertised, "--cert-file=/no/such", "--key-file=/no/such")));
  }

  /** An error found during the creation of the member is a wrong setting too. */
  @ParameterizedTest
  @MethodSource("lateMistakes")
  void laterStartErrorExitsWithOne_F3_F7_F9(String key, List<String> flags) throws IOException {
    List<String> all = new ArrayList<>(flags);
    all.add("--data-dir=" + directory.resolve("data"));
    try (NodeProcess etcd = etcd(all.toArray(String[]::new))) {
      assertThat(etcd.awaitExit()).isEqualTo(1);
      JsonNode last = new ObjectMapper().readTree(etcd.err().lines().toList().get(lines(etcd) - 1));
      assertThat(last.path("msg").asText()).isEqualTo("failed to verify flags");
      assertThat(last.path("error").asText()).contains(key);
    }
  }

  private static int lines(NodeProcess process) {
    return (int) process.err().lines().count();
  }

  @Test
  void versionIsPrintedBesideWrongFlags_F4() {
    try (NodeProcess leftOver = etcd("--version", "foo");
        NodeProcess unknown = etcd("--version", "--bogus")) {
      assertThat(leftOver.awaitExit()).isEqualTo(1);
      assertThat(leftOver.err()).contains("is not a valid flag");
      assertThat(unknown.awaitExit()).isEqualTo(2);
      assertThat(leftOver.out() + unknown.out()).isEmpty();
    }
  }

  /** The JVM would print the variables before the first log line. */
  @Test
  void jvmVariablesAreUsedAndNotLogged_B6() throws IOException {
    try (NodeProcess node =
        node(TestJdks.running())
            .environment("JAVA_TOOL_OPTIONS", "-Dtroupe.name=tool -Dtroupe.max-learners=7")
            .environment("JDK_JAVA_OPTIONS", "'-Dtroupe.name=two words' -Dtroupe.log.format=text")
            .environment("_JAVA_OPTIONS", "-Dtroupe.log.format=\"json\"")
            .start()
            .awaitReady()) {
      ObjectMapper json = new ObjectMapper();
      List<JsonNode> lines = new ArrayList<>();
      for (String line : node.err().substring(0, node.err().lastIndexOf('\n')).lines().toList()) {
        lines.add(json.readTree(line));
      }
      assertThat(lines).anyMatch(line -> line.path("name").asText().equals("two words"));
      assertThat(node.out()).isEmpty();
    }
  }

  @Test
  void etcdAcceptsFileAndVariables() throws IOException {
    String url = "http://127.0.0.1:" + FreePort.next();
    String peerUrl = "http://127.0.0.1:" + FreePort.next();
    Path file =
        Files.write(
            directory.resolve("etcd.yaml"),
            List.of(
                "name: filed",
                "data-dir: " + directory.resolve("data"),
                "listen-client-urls: " + url,
                "advertise-client-urls: " + url,
                "listen-peer-urls: " + peerUrl,
                "initial-advertise-peer-urls: " + peerUrl,
                "initial-cluster: filed=" + peerUrl,
                "max-wals: 9",
                "feature-gates: InitialCorruptCheck=true,CompactHashCheck=true",
                "auto-compaction-mode: revision",
                "auto-compaction-retention: '1000'"));
    try (NodeProcess node =
        script("etcd", TestJdks.running())
            .environment("ETCD_CONFIG_FILE", file.toString())
            .environment("ETCD_NAME", "not this one")
            .start()
            .awaitReady()) {
      assertThat(node.err())
          .contains(
              "\"name\":\"filed\"", "\"msg\":\"flag has no effect here\",\"flag\":\"max-wals\"")
          .contains("loaded server configuration")
          .containsPattern("\"msg\":\"starting Troupe\",\"version\":\"[^\"]+\",\"commit\":\"")
          .containsPattern("\"heap-max\":\"\\d+MiB\".*\"heap-origin\":\"");
    }
  }
}
