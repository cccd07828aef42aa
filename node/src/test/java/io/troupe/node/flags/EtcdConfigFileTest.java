package io.troupe.node.flags;

import static io.troupe.node.flags.CommandLines.end;
import static io.troupe.node.flags.CommandLines.ends;
import static io.troupe.node.flags.CommandLines.read;
import static io.troupe.node.flags.CommandLines.settings;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Section 4: the configuration file (F2). */
class EtcdConfigFileTest {
  @TempDir Path directory = Path.of("");

  private String file(String... lines) throws IOException {
    return CommandLines.file(directory, lines);
  }

  @Test
  void fileOverridesFlagsAndVariables_F2() throws IOException {
    String file =
        file(
            "# as etcd's example has it",
            "name: 'filed'",
            "heartbeat-interval: 50",
            "listen-client-urls: http://127.0.0.1:1,http://127.0.0.1:2",
            "corrupt-check-time: 60000000000",
            "auto-compaction-retention: \"1h30m\"",
            "log-outputs: [stderr]",
            "max-learners: 2",
            "socket-options:",
            "  reuse-address: true",
            "client-transport-security:",
            "  cert-file:",
            "  client-cert-auth: false",
            "  allowed-cn: []",
            "peer-transport-security: {auto-tls: false}",
            "no-such-key: {a: 1}",
            "cert-file: is no key of the top");
    EtcdCommandLine line =
        read(Map.of("ETCD_NAME", "env"), "--config-file=" + file, "--max-learners=9");
    assertThat(line.properties())
        .isEqualTo(
            Map.ofEntries(
                Map.entry("troupe.name", "filed"),
                Map.entry("troupe.log.format", "json"),
                Map.entry("troupe.log.outputs", "stderr"),
                Map.entry("troupe.data-dir", "filed.etcd"),
                Map.entry("troupe.heartbeat-interval", "50 ms"),
                Map.entry("troupe.listen-client-urls", "http://127.0.0.1:1,http://127.0.0.1:2"),
                Map.entry("troupe.advertise-client-urls", "http://localhost:2379"),
                Map.entry("troupe.corrupt-check-time", "60000000000 ns"),
                Map.entry("troupe.auto-compaction-retention", "1h30m"),
                Map.entry("troupe.max-learners", "2"),
                Map.entry("troupe.client-transport-security.client-cert-auth", "false"),
                Map.entry("troupe.peer-transport-security.auto-tls", "false")));
    assertThat(line.notices())
        .contains(
            DeferredLogLine.info(
                    "loaded server configuration, other configuration command line flags and"
                        + " environment variables will be ignored if provided")
                .with("path", file))
        .anyMatch(notice -> notice.fields().containsValue("socket-reuse-address"));
    assertThat(read(Map.of("ETCD_CONFIG_FILE", file)).properties()).isEqualTo(line.properties());
    assertThat(end(Map.of("ETCD_CONFIG_FILE", file), "--no-such").status()).isEqualTo(2);
  }

  @Test
  void jsonFileIsAccepted_F2() throws IOException {
    assertThat(
            settings("--config-file", file("{\"name\": \"j\", \"max-txn-ops\": 5}"))
                .get("troupe.max-txn-ops"))
        .isEqualTo("5");
    assertThat(settings("--config-file", file("# nothing")).get("troupe.name"))
        .isEqualTo("default");
  }

  @Test
  void wrongFileStopsStart_F2() throws IOException {
    ends(1, "open /no/such/file: no such file or directory", "--config-file=/no/such/file");
    String text = file("name: [1, 2");
    assertThat(end(Map.of(), "--config-file=" + text).status()).isEqualTo(1);
    ends(
        1,
        "invalid value \"abc\" for key heartbeat-interval: expected a whole number",
        "--config-file=" + file("heartbeat-interval: abc"));
    ends(
        1,
        "invalid value \"10s\" for key corrupt-check-time: expected a whole number of nanoseconds",
        "--config-file=" + file("corrupt-check-time: 10s"));
    ends(
        1,
        "invalid value \"yes!\" for key peer-transport-security.auto-tls: expected true or false",
        "--config-file=" + file("peer-transport-security:", "  auto-tls: yes!"));
  }

  @Test
  void discoveryBlockIsRead_F2() throws IOException {
    assertThat(
            settings(
                "--config-file="
                    + file(
                        "discovery-config:",
                        "  token: t",
                        "  client:",
                        "    endpoints: [http://a:1, http://b:1]",
                        "    request-timeout: 3000000000",
                        "    secure:",
                        "      cacert: ca.pem",
                        "    auth:",
                        "      username: u",
                        "      password: p")))
        .containsEntry("troupe.discovery.token", "t")
        .containsEntry("troupe.discovery.endpoints", "http://a:1,http://b:1")
        .containsEntry("troupe.discovery.request-timeout", "3000000000 ns")
        .containsEntry("troupe.discovery.trusted-ca-file", "ca.pem")
        .containsEntry("troupe.discovery.user", "u")
        .containsEntry("troupe.discovery.password", "p");
  }

  @Test
  void tlsBlocksAreRead_F2() throws IOException {
    assertThat(
            settings(
                "--config-file="
                    + file(
                        "client-transport-security:",
                        "  cert-file: c.pem",
                        "  key-file: k.pem",
                        "  client-cert-file: cc.pem",
                        "  client-key-file: ck.pem",
                        "  client-cert-auth: true",
                        "  trusted-ca-file: ca.pem",
                        "  allowed-cn: [me, you]",
                        "  skip-client-san-verification: true",
                        "  no-such-key: 1",
                        "peer-transport-security:",
                        "  auto-tls: true",
                        "  allowed-hostname: [a.test]",
                        "  skip-client-san-verification: true",
                        "self-signed-cert-validity: 0",
                        "tls-max-version: TLS1.2",
                        "cipher-suites: [A, B]")))
        .containsAllEntriesOf(
            Map.of(
                "troupe.client-transport-security.cert-file", "c.pem",
                "troupe.client-transport-security.key-file", "k.pem",
                "troupe.client-transport-security.client-cert-file", "cc.pem",
                "troupe.client-transport-security.client-key-file", "ck.pem",
                "troupe.client-transport-security.client-cert-auth", "true",
                "troupe.client-transport-security.trusted-ca-file", "ca.pem",
                "troupe.client-transport-security.allowed-cn", "me,you",
                "troupe.client-transport-security.skip-client-san-verification", "true"))
        .containsAllEntriesOf(
            Map.of(
                "troupe.peer-transport-security.auto-tls", "true",
                "troupe.peer-transport-security.allowed-hostname", "a.test",
                "troupe.peer-transport-security.skip-client-san-verification", "true",
                "troupe.tls-max-version", "TLS1.2",
                "troupe.cipher-suites", "A,B"))
        .as("0 is etcd's default in a file")
        .hasSize(16);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "~", "null", "Null", "NULL"})
  void nullEqualsMissingKey_F2(String nothing) throws IOException {
    assertThat(
            settings(
                "--config-file",
                file(
                    "wal-dir: " + nothing,
                    "name: " + nothing,
                    "snapshot-count: " + nothing,
                    "pre-vote: " + nothing,
                    "corrupt-check-time: " + nothing,
                    "listen-peer-urls: " + nothing,
                    "client-transport-security: " + nothing,
                    "peer-transport-security:",
                    "  cert-file: " + nothing)))
        .isEqualTo(settings());
    assertThat(settings("--config-file", file("wal-dir: '~'")))
        .containsEntry("troupe.wal-dir", "~");
  }

  @ParameterizedTest
  @ValueSource(strings = {"yes", "Yes", "YES", "y", "Y", "on", "On", "ON", "true", "True", "TRUE"})
  void trueValues_F2(String yes) throws IOException {
    assertThat(settings("--config-file", file("enable-pprof: " + yes)))
        .containsEntry("troupe.enable-pprof", "true");
  }

  @ParameterizedTest
  @ValueSource(strings = {"no", "No", "NO", "n", "N", "off", "Off", "OFF", "false", "False"})
  void falseValues_F2(String no) throws IOException {
    assertThat(settings("--config-file", file("strict-reconfig-check: " + no)))
        .containsEntry("troupe.strict-reconfig-check", "false");
  }

  @ParameterizedTest
  @CsvSource({
    "1e4, 10000",
    "100.0, 100",
    "1.5e3, 1500",
    "+5, 5",
    "0x10, 16",
    "0b11, 3",
    "0o17, 15",
    "010, 8",
    "1_000, 1000",
  })
  void integerForms_F2(String number, String decimal) throws IOException {
    assertThat(settings("--config-file", file("max-txn-ops: " + number)))
        .containsEntry("troupe.max-txn-ops", decimal);
    assertThat(settings("--config-file", file("corrupt-check-time: " + number)))
        .containsEntry("troupe.corrupt-check-time", decimal + " ns");
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.5", "'100'", "yes", "1e400", "-1", "!!float x"})
  void invalidNumbersAreRefused_F2(String number) throws IOException {
    assertThat(end(Map.of(), "--config-file=" + file("max-txn-ops: " + number)).status())
        .isEqualTo(1);
  }

  @Test
  void stringsMayLookLikeOtherTypes_F2() throws IOException {
    assertThat(
            settings(
                "--config-file",
                file(
                    "name: 007",
                    "initial-cluster-token: yes",
                    "auto-compaction-retention: 1",
                    "log-outputs: ['010', 2]")))
        .containsEntry("troupe.name", "7")
        .containsEntry("troupe.initial-cluster-token", "true")
        .containsEntry("troupe.auto-compaction-retention", "1")
        .containsEntry("troupe.log.outputs", "010,2");
  }

  @Test
  void firstDocumentAndLastDuplicateKeyWin_F2() throws IOException {
    assertThat(settings("--config-file", file("name: a", "name: b", "---", "name: c", "---", "{{")))
        .containsEntry("troupe.name", "b");
  }
}
