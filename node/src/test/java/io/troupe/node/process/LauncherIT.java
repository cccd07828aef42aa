package io.troupe.node.process;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.node.process.TestJdks.Jdk;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The scripts bin/node (its archive apart: {@link LauncherArchiveIT}) and bin/etcd. */
class LauncherIT {
  private static final String JDKS = "io.troupe.node.process.TestJdks#all";

  @TempDir Path directory = Path.of("");

  private NodeProcess.Builder script(String name, Jdk jdk) {
    return NodeProcess.program(directory, NodeProcess.script(name).toString())
        .environment("JAVA_HOME", jdk.home().toString())
        .environment("TROUPE_JAR", NodeProcess.nodeJar().toString())
        .environment("TROUPE_HEAP", "256m")
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
  void theNativeLibraryIsUnpackedOnceForAllMembers() throws IOException {
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
  void aMissingJdkIsNamed() {
    try (NodeProcess node =
        node(TestJdks.running()).environment("JAVA_HOME", "/no/such/jdk").start()) {
      assertThat(node.awaitExit()).isEqualTo(2);
      assertThat(node.err()).contains("/no/such/jdk");
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void etcdTakesEtcdsFlags(Jdk jdk) {
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
  void etcdVersionNeedsNoJvm() {
    try (NodeProcess version =
        NodeProcess.program(directory, NodeProcess.script("etcd").toString())
            .environment("JAVA_HOME", "/no/such/jdk")
            .args("--version")
            .start()) {
      assertThat(version.awaitExit()).isZero();
      assertThat(version.out().lines().toList()).hasSize(4);
      assertThat(version.out()).startsWith("etcd Version: 3.7.1\nGit SHA: ");
    }
  }

  @Test
  void etcdTellsTheVersionAmongOtherFlagsTheSameWay() {
    try (NodeProcess first = etcd("--version");
        NodeProcess later = etcd("--name=x", "--version")) {
      assertThat(first.awaitExit()).isZero();
      assertThat(later.awaitExit()).isZero();
      assertThat(later.out()).isEqualTo(first.out());
    }
  }

  @Test
  void etcdNamesAnUnknownFlag() {
    try (NodeProcess etcd = etcd("--no-such-flag=1")) {
      assertThat(etcd.awaitExit()).isEqualTo(2);
      assertThat(etcd.err()).contains("flag provided but not defined: -no-such-flag");
    }
  }

  /** F3: a value that only the settings refuse. */
  @Test
  void etcdEndsWithOneForAWrongSetting() {
    try (NodeProcess etcd = etcd("--election-timeout=200")) {
      assertThat(etcd.awaitExit()).isEqualTo(1);
      assertThat(etcd.err()).contains("troupe.election-timeout");
    }
  }

  @Test
  void etcdTakesAFileAndVariables() throws IOException {
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
          .contains("\"name\":\"filed\"", "flag has no effect here flag=max-wals")
          .contains("loaded server configuration");
    }
  }
}
