package io.troupe.tests.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.TestJdks.Jdk;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Start and stop of {@code java -jar node.jar}: exit codes, configuration, logs. */
@HeapIndependent
class MemberProcessIT {
  private static final String JDKS = "io.troupe.tests.process.TestJdks#all";

  @TempDir Path directory = Path.of("");

  private final Jdk running = TestJdks.running();

  private static boolean serves(NodeProcess node) {
    try (Socket socket = new Socket()) {
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), node.port()), 1000);
      return true;
    } catch (IOException refused) {
      return false;
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void sigtermStopsMemberCleanlyAndSoon(Jdk jdk) {
    try (NodeProcess node = NodeProcess.member(jdk, directory).start().awaitReady()) {
      assertThat(serves(node)).isTrue();
      assertThat(node.stop()).isEqualTo(143);
      assertThat(stopTime(node)).isLessThan(Duration.ofSeconds(2));
      assertThat(node.err()).contains("stopped").doesNotContain(" WARN ", "ERROR", "\tat ");
    }
    try (NodeProcess again = NodeProcess.member(jdk, directory).start().awaitReady()) {
      assertThat(again.err()).contains("found data of member name=default");
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void sigtermDoesNotWaitForConnectedClients(Jdk jdk) throws IOException {
    try (NodeProcess node = NodeProcess.member(jdk, directory).start().awaitReady();
        Socket silent = new Socket(InetAddress.getLoopbackAddress(), node.port());
        Socket quiet = new Socket(InetAddress.getLoopbackAddress(), node.port())) {
      // A complete HTTP/2 preface with empty settings: a client without an open call.
      quiet
          .getOutputStream()
          .write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(ISO_8859_1));
      assertThat(quiet.getInputStream().read()).as("the server's own settings").isNotNegative();
      assertThat(node.stop()).isEqualTo(143);
      assertThat(stopTime(node)).isLessThan(Duration.ofSeconds(2));
      assertThat(node.err()).contains("stopped").doesNotContain(" WARN ", "ERROR", "\tat ");
      assertThat(silent.isConnected()).isTrue();
    }
  }

  /**
   * Time between the log lines "stopping" and "stopped". The JVM's own time before and after
   * depends on the machine.
   */
  private static Duration stopTime(NodeProcess node) {
    return Duration.between(timeOf(node, " stopping cause=signal"), timeOf(node, " stopped"));
  }

  private static OffsetDateTime timeOf(NodeProcess node, String word) {
    String line = node.err().lines().filter(text -> text.endsWith(word)).findFirst().orElseThrow();
    return OffsetDateTime.parse(line.substring(0, line.indexOf(' ')));
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void memberRestartsAfterKill(Jdk jdk) {
    try (NodeProcess node = NodeProcess.member(jdk, directory).start().awaitReady()) {
      node.kill();
      assertThat(node.isAlive()).isFalse();
    }
    try (NodeProcess again = NodeProcess.member(jdk, directory).start().awaitReady()) {
      assertThat(serves(again)).isTrue();
    }
  }

  @Test
  void secondMemberDoesNotUseLockedData() {
    try (NodeProcess first = NodeProcess.member(running, directory).start().awaitReady();
        NodeProcess second = NodeProcess.member(running, directory).start()) {
      assertThat(second.awaitExit()).isEqualTo(3);
      assertThat(second.err()).contains("exit-code=3").doesNotContain("\tat ");
      assertThat(second.err()).contains(directory.resolve("data").toString());
      assertThat(first.isAlive()).isTrue();
      assertThat(serves(first)).isTrue();
    }
  }

  @Test
  void usedAddressIsReported() throws IOException {
    try (ServerSocket taken = new ServerSocket(0)) {
      String url = "http://127.0.0.1:" + taken.getLocalPort();
      try (NodeProcess node =
          NodeProcess.jar(running, directory, List.of())
              .args(
                  "-Dtroupe.data-dir=" + directory.resolve("data"),
                  "-Dtroupe.listen-client-urls=" + url)
              .start()) {
        assertThat(node.awaitExit()).isEqualTo(7);
        assertThat(node.err()).contains("exit-code=7", "troupe.listen-client-urls", url);
      }
    }
  }

  private static String three(String own) {
    return "-Dtroupe.initial-cluster=n1=" + own + ",n2=http://127.0.0.1:1,n3=http://127.0.0.1:2";
  }

  @Tag("full")
  @Test
  void memberWithoutQuorumListensAndWaits_B1() {
    String own = "http://127.0.0.1:" + FreePort.next();
    NodeProcess.Builder member =
        NodeProcess.member(running, directory)
            .args("-Dtroupe.name=n1", "-Dtroupe.initial-advertise-peer-urls=" + own, three(own));
    try (NodeProcess node = member.start()) {
      node.awaitLine("listening");
      node.awaitLine("cannot publish this member yet");
      assertThat(serves(node)).isTrue();
      assertThat(node.out()).doesNotContain(NodeProcess.READY);
      assertThat(node.stop()).isEqualTo(143);
      assertThat(node.err()).endsWith("stopped\n").doesNotContain("ERROR", "\tat ");
    }
    // Bootstrap settings are ignored because data exists (F6).
    try (NodeProcess again = member.setting("initial-cluster", "else=" + own).start()) {
      again.awaitLine("found data of member name=n1");
      again.awaitLine("listening");
    }
  }

  @Tag("full")
  @Test
  void memberThatReachesNoPeerDoesNotJoin_B2() {
    String own = "http://127.0.0.1:" + FreePort.next();
    try (NodeProcess node =
        NodeProcess.member(running, directory)
            .setting("name", "n1")
            .setting("initial-advertise-peer-urls", own)
            .setting("initial-cluster-state", "existing")
            .args(three(own))
            .start()) {
      assertThat(node.awaitExit()).isEqualTo(1);
      assertThat(node.err())
          .contains("could not retrieve cluster information from the given URLs")
          .contains("http://127.0.0.1:1");
      assertThat(directory.resolve("data/identity")).doesNotExist();
    }
  }

  @Test
  void memberMissingInInitialClusterIsRefused_F9() {
    try (NodeProcess node =
        NodeProcess.member(running, directory)
            .setting("initial-cluster", "other=http://localhost:2380")
            .start()) {
      assertThat(node.awaitExit()).isEqualTo(2);
      assertThat(node.err()).contains("troupe.initial-cluster", "this member's name \"default\"");
    }
  }

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of("-Dtroupe.no-such-key=1", "troupe.no-such-key", "1", "snapshot-count"),
        Arguments.of("-Dtroupe.snapshot-count=many", "troupe.snapshot-count", "many", "number"),
        Arguments.of("-Dtroupe.snapshot-count=0", "troupe.snapshot-count", "0", "between 1 and"),
        Arguments.of(
            "-Dtroupe.election-timeout=10 ms", "troupe.election-timeout", "10 ms", "at least 5"),
        Arguments.of("-Dtroupe.log.level=loud", "troupe.log.level", "loud", "debug"),
        Arguments.of(
            "-Dtroupe.listen-client-urls=ftp://x",
            "troupe.listen-client-urls",
            "ftp://x",
            "http://host:port"),
        Arguments.of(
            "-Dtroupe.initial-cluster=default",
            "troupe.initial-cluster",
            "default",
            "name=http://host:port"),
        Arguments.of("-Dtroupe.max-learners=-1", "troupe.max-learners", "-1", "between 0 and"),
        Arguments.of("-Dconfig.file=/no/such/file", "config.file", "/no/such/file", "readable"),
        Arguments.of("start", "argument", "start", "-Dkey=value"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void wrongSettingIsOneLineWithKeyValueAndValidForm(
      String argument, String key, String value, String right) {
    try (NodeProcess node =
        NodeProcess.jar(running, directory, List.of())
            .args("-Dtroupe.data-dir=" + directory.resolve("data"), argument)
            .start()) {
      assertThat(node.awaitExit()).isEqualTo(2);
      List<String> lines = node.err().lines().filter(line -> !line.startsWith("WARNING:")).toList();
      assertThat(lines).hasSize(1);
      assertThat(lines.get(0)).contains(key, value, right);
      assertThat(directory.resolve("data")).doesNotExist();
    }
  }

  @Tag("full")
  @ParameterizedTest
  @MethodSource(JDKS)
  void settingsWorkBeforeAndAfterJarName(Jdk jdk) {
    int port = FreePort.next();
    try (NodeProcess node =
        NodeProcess.jar(jdk, directory, List.of("-Dtroupe.name=before"))
            .args(
                "-Dtroupe.data-dir=" + directory.resolve("data"),
                "-Dtroupe.listen-client-urls=http://127.0.0.1:" + port)
            .start()
            .awaitReady()) {
      assertThat(node.err()).contains("name=before", "address=127.0.0.1:" + port);
    }
  }

  @Test
  void commandLineOverridesFile() throws IOException {
    int port = FreePort.next();
    Path file = directory.resolve("node.conf");
    Files.writeString(
        file,
        """
        troupe {
          name = "from-file"
          data-dir = "%s"
          listen-client-urls = ["http://127.0.0.1:1"]
          log.format = "json"
        }
        """
            .formatted(directory.resolve("data")));
    try (NodeProcess node =
        NodeProcess.jar(running, directory, List.of())
            .args("-Dconfig.file=" + file, "-Dtroupe.listen-client-urls=http://127.0.0.1:" + port)
            .start()
            .awaitReady()) {
      assertThat(node.err()).contains("\"name\":\"from-file\"", "127.0.0.1:" + port);
    }
  }

  @Test
  void brokenFileIsReportedWithLine() throws IOException {
    Path file = directory.resolve("node.conf");
    Files.writeString(file, "troupe {\n  name = \n}}\n");
    try (NodeProcess node =
        NodeProcess.jar(running, directory, List.of()).args("-Dconfig.file=" + file).start()) {
      assertThat(node.awaitExit()).isEqualTo(2);
      assertThat(node.err()).contains(file.toString());
    }
  }

  @ParameterizedTest
  @MethodSource(JDKS)
  void everyJsonLogLineIsObject(Jdk jdk) throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    try (NodeProcess node =
        NodeProcess.member(jdk, directory)
            .args("-Dtroupe.log.format=json", "-Dtroupe.log.level=debug")
            .start()
            .awaitReady()) {
      node.terminate();
      node.awaitExit();
      ObjectMapper json = new ObjectMapper();
      for (String line : node.err().lines().toList()) {
        // Newer JVMs complain about libraries on the same stream; bin/node silences them.
        if (!line.startsWith("WARNING: ")) {
          lines.add(json.readTree(line));
        }
      }
    }
    assertThat(lines).hasSizeGreaterThan(4);
    assertThat(lines)
        .allMatch(
            line -> line.has("level") && line.has("ts") && line.has("caller") && line.has("msg"));
  }
}
