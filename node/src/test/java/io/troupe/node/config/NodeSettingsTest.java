package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.edge.connection.KeepAlive;
import io.troupe.node.TestConfig;
import io.troupe.node.backup.BackupSettings;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.SelfSigned;
import io.troupe.node.tls.TlsSettings;
import io.troupe.node.tracing.TracingSettings;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Values derived from settings. */
class NodeSettingsTest {
  private static NodeSettings settings(String... lines) {
    Config config = ConfigFactory.empty();
    for (String line : lines) {
      config = ConfigFactory.parseString("troupe." + line).withFallback(config);
    }
    return NodeSettings.of(
        config
            .withFallback(ConfigFactory.parseResources("troupe-defaults.conf"))
            .withFallback(ConfigFactory.defaultReferenceUnresolved())
            .resolve());
  }

  /** Limits of the log, the peer port and the heap for one request. */
  @Test
  void requestLargerThanHeapAllowsIsRefusedWithBound() {
    NodeSettings large =
        NodeSettings.of(TestConfig.of(Map.of("troupe.max-request-bytes", "33554432")));
    SizeRules.check(large, 455L << 20);
    assertThatThrownBy(() -> SizeRules.check(large, 228L << 20))
        .isInstanceOf(StartException.class)
        .hasMessageContainingAll(
            "troupe.max-request-bytes", "33554432", "19922944", "228 MiB", "TROUPE_HEAP");
    assertThat(SizeRules.maxRequestBytes(64L << 30)).isEqualTo((256 << 20) - (64 << 10));
    NodeSettings usual = NodeSettings.of(TestConfig.of(Map.of()));
    SizeRules.check(usual, 30L << 20);
  }

  @Test
  void diskTimeoutIsCountedInHeartbeats() {
    assertThat(settings().diskStallTicks()).isEqualTo(20);
    assertThat(settings("heartbeat-interval = 30 ms").diskStallTicks()).isEqualTo(67);
    assertThat(settings("disk-stall-timeout = 1 ms").diskStallTicks()).isEqualTo(1);
    assertThat(settings("disk-stall-timeout = 0 s").diskStallTicks()).isZero();
    assertThatThrownBy(() -> settings("disk-stall-timeout = 1 hour"))
        .hasMessageContaining("troupe.disk-stall-timeout");
  }

  @Test
  void quotaIsSizeOrNegativeNumber() {
    assertThat(settings().quotaBackendBytes()).isZero();
    assertThat(settings("quota-backend-bytes = 8589934592").quotaBackendBytes())
        .isEqualTo(8L << 30);
    assertThat(settings("quota-backend-bytes = 8 GiB").quotaBackendBytes()).isEqualTo(8L << 30);
    assertThat(settings("quota-backend-bytes = -1").quotaBackendBytes()).isEqualTo(-1);
    for (String wrong : List.of("8 Gibi", "-1 GiB", "much", "9 EiB")) {
      assertThatThrownBy(() -> settings("quota-backend-bytes = " + wrong))
          .hasMessageContainingAll("troupe.quota-backend-bytes", wrong, "8 GiB");
    }
  }

  @Test
  void snapshotRateHasLowerBound() {
    assertThat(settings().snapshotSendRateBytes()).isEqualTo(64L << 20);
    assertThatThrownBy(() -> settings("snapshot-send-rate = 1 KiB"))
        .hasMessageContaining("troupe.snapshot-send-rate");
  }

  @Test
  void pingsOfClientConnections() {
    assertThat(settings().keepAlive())
        .isEqualTo(
            new KeepAlive(Duration.ofSeconds(5), Duration.ofSeconds(30), Duration.ofSeconds(15)));
    assertThat(
            settings(
                    "grpc-keepalive-min-time = 0 s",
                    "grpc-keepalive-interval = 2 hours",
                    "grpc-keepalive-timeout = 20 s")
                .keepAlive())
        .isEqualTo(new KeepAlive(Duration.ZERO, Duration.ofHours(2), Duration.ofSeconds(20)));
    assertThatThrownBy(() -> settings("grpc-keepalive-timeout = 2 days"))
        .hasMessageContaining("troupe.grpc-keepalive-timeout");
  }

  @Test
  void backupsNeedADirectory() {
    assertThat(settings().backup()).isEmpty();
    String on = "backup.directory = /mnt/b";
    assertThat(settings(on).backup())
        .contains(
            new BackupSettings(
                Path.of("/mnt/b"),
                Duration.ofHours(1),
                48,
                Duration.ofSeconds(10),
                Duration.ofMinutes(5)));
    BackupSettings off = settings(on, "backup.log-interval = 0").backup().orElseThrow();
    assertThat(off.shipsLog()).isFalse();
    refused("troupe.backup.log-interval = \"500 ms\" is wrong", on, "backup.log-interval = 500 ms");
    refused("troupe.backup.log-interval", on, "backup.log-interval = 2 days");
    refused("troupe.backup.stall-timeout", on, "backup.stall-timeout = 999 ms");
    refused("troupe.backup.interval", "backup.interval = 0 s");
    refused("troupe.backup.keep", "backup.keep = 0");
  }

  @Test
  void logOutputsAreStreamsAndFiles() {
    assertThat(settings().log().outputs()).containsExactly("stderr");
    assertThat(settings("log.outputs = \"stdout, /var/log/x.log\"").log().outputs())
        .containsExactly("stdout", "/var/log/x.log");
    assertThatThrownBy(() -> settings("log.outputs = []")).hasMessageContaining("log.outputs");
  }

  @Test
  void onlySingleLogFileIsRotated() {
    assertThat(settings("log.outputs = [\"x.log\"]").log().rotation()).isEmpty();
    assertThat(
            settings(
                    "log.outputs = [\"x.log\"]",
                    "log.rotate = true",
                    "log.rotation = \"{\\\"maxsize\\\": 7, \\\"maxbackups\\\": 2}\"")
                .log()
                .rotation())
        .contains(new NodeSettings.LogRotation(7, 0, 2, false));
    assertThat(settings("log.outputs = [x]", "log.rotate = true").log().rotation())
        .contains(new NodeSettings.LogRotation(100, 0, 0, false));
    assertThatThrownBy(() -> settings("log.rotate = true"))
        .hasMessageContaining("log.outputs")
        .hasMessageContaining("one file");
    assertThatThrownBy(() -> settings("log.outputs = [a, b]", "log.rotate = true"))
        .hasMessageContaining("one file");
    assertThatThrownBy(
            () -> settings("log.outputs = [a]", "log.rotate = true", "log.rotation = \"{\""))
        .hasMessageContaining("log.rotation");
  }

  @Test
  void slowRequestsHaveLimits() {
    assertThat(settings().slow())
        .isEqualTo(new NodeSettings.Slow(Duration.ofMillis(100), Duration.ofMillis(300)));
    assertThat(settings("warning-apply-duration = 1000 ns").slow().apply())
        .isEqualTo(Duration.ofNanos(1000));
  }

  /** All members must select the same URL; they know only the text order of the URLs. */
  @Test
  void tracingSettingsAreIgnoredWhenTracingIsOff() {
    assertThat(settings().tracing()).isEmpty();
    assertThat(settings("tracing.address = nonsense", "tracing.sampling-rate = -1").tracing())
        .isEmpty();
  }

  @Test
  void tracingSettingsAreChecked_F7() {
    String on = "tracing.enabled = true";
    assertThat(settings(on).tracing())
        .contains(new TracingSettings("localhost:4317", "etcd", "", 0));
    assertThat(settings(on, "tracing.sampling-rate = 1000000").tracing().orElseThrow())
        .extracting(TracingSettings::samplesPerMillion)
        .isEqualTo(1_000_000);
    assertThat(settings(on, "tracing.address = \"[::1]:4317\"").tracing().orElseThrow().address())
        .isEqualTo("[::1]:4317");
    for (String rate : List.of("-1", "1000001")) {
      assertThatThrownBy(() -> settings(on, "tracing.sampling-rate = " + rate))
          .hasMessageContaining("troupe.tracing.sampling-rate")
          .hasMessageContaining("between 0 and 1000000");
    }
    for (String address :
        List.of(
            "", "collector", "collector:", ":4317", "http://collector:4317", "c:0", "c:4317/x")) {
      assertThatThrownBy(() -> settings(on, "tracing.address = \"" + address + "\""))
          .hasMessageContaining("troupe.tracing.address")
          .hasMessageContaining("expected host:port");
    }
  }

  @Test
  void peerUrlThatSortsFirstNamesTheMember() {
    NodeSettings several =
        settings(
            "initial-advertise-peer-urls = [\"http://b:1\", \"http://a:1\"]",
            "listen-peer-urls = [\"http://b:1\", \"http://a:1\"]");
    assertThat(several.peerUrl()).isEqualTo("http://a:1");
  }

  @Test
  void memberListensOnEachPeerUrlOnce() {
    NodeSettings several =
        settings(
            "initial-advertise-peer-urls = [\"http://b:1\", \"http://a:1\"]",
            "listen-peer-urls = [\"http://0.0.0.0:7\", \"http://0.0.0.0:5\", \"http://0.0.0.0:7\"]");
    assertThat(several.boundPeerUrls())
        .isEqualTo(List.of(URI.create("http://0.0.0.0:7"), URI.create("http://0.0.0.0:5")));
  }

  @Test
  void memberThatJoinsAcceptsWhatMemberAddPrintsForOneThatIsNotStarted() {
    String cluster = "initial-cluster = \"=http://a:1,b=http://b:1\"";
    assertThat(settings(cluster, "initial-cluster-state = existing").initialCluster())
        .isEqualTo(Map.of("", List.of("http://a:1"), "b", List.of("http://b:1")));
    refused("\"=http://a:1\" is wrong: expected name=", cluster);
  }

  private static void refused(String text, String... lines) {
    assertThatThrownBy(() -> settings(lines))
        .isInstanceOf(StartException.class)
        .hasMessageContaining(text);
  }

  @Test
  void plaintextHasNoTlsSettings_F7() {
    assertThat(settings().clientTls()).isEmpty();
    assertThat(settings().peerTls()).isEmpty();
    assertThat(settings("client-transport-security.trusted-ca-file = ca.pem").clientTls())
        .as("no port has a certificate")
        .isEmpty();
  }

  @Test
  void httpsNeedsCertificate_F7() {
    String https = "[\"https://127.0.0.1:1\"]";
    refused(
        "troupe.listen-client-urls = \"https://127.0.0.1:1\" is wrong: TLS key/cert (--cert-file,"
            + " --key-file) must be provided for client url https://127.0.0.1:1 with HTTPS scheme",
        "listen-client-urls = " + https);
    refused("must be provided for client url", "listen-client-http-urls = " + https);
    refused("must be provided for metrics secure url", "listen-metrics-urls = " + https);
    refused(
        "cannot listen on TLS for 127.0.0.1:1: KeyFile and CertFile are not presented",
        "listen-peer-urls = " + https);
    assertThat(settings("advertise-client-urls = " + https).advertiseClientUrls())
        .as("a proxy in front of it may use TLS")
        .containsExactly("https://127.0.0.1:1");
    refused(
        "cannot listen on TLS for a:1: KeyFile and CertFile are not presented",
        "listen-peer-urls = [\"unixs://a:1\"]");
    refused("unix://file or unixs://file", "initial-advertise-peer-urls = [\"unix://\"]");
  }

  @Test
  void unixSocketsAreClientListeners_TL7() {
    NodeSettings sockets =
        settings(
            "listen-client-urls = [\"unix://localhost:0\", \"unix:///run/a%20b.sock\"]",
            "listen-client-http-urls = [\"unix:/run/http.sock\"]",
            "listen-metrics-urls = [\"unix://run/metrics_1\"]");
    assertThat(sockets.listenClientUrls().stream().map(SocketUrl::path))
        .containsExactly(Path.of("localhost:0"), Path.of("/run/a b.sock"));
    assertThat(SocketUrl.path(sockets.http().listenUrls().get(0)))
        .isEqualTo(Path.of("/run/http.sock"));
    assertThat(SocketUrl.path(sockets.http().metricsUrls().get(0)))
        .isEqualTo(Path.of("run/metrics_1"));
    assertThat(sockets.advertiseClientUrls())
        .containsExactly("unix://localhost:0", "unix:///run/a%20b.sock");
    for (String wrong :
        List.of(
            "unix://", "unix:file", "unix:///", "unix://me@host", "unix:///a?b", "unixs:///a#b")) {
      refused("unixs://file of a unix socket", "listen-client-urls = [\"" + wrong + "\"]");
    }
    refused("must be provided for client url unixs://a", "listen-client-urls = [\"unixs://a\"]");
    refused(
        "expected a separate address, unix://a:0 uses the same one",
        "listen-client-urls = [\"unix://a:0\", \"unix://a:0\"]");
    assertThat(settings("initial-advertise-peer-urls = [\"unix://a\"]").peerUrl())
        .isEqualTo("unix://a");
  }

  @Test
  void addressHasOnePurpose_F7() {
    String cert = "client-transport-security.cert-file = c.pem";
    String key = "client-transport-security.key-file = k.pem";
    String both = "urls = [\"http://127.0.0.1:1\", \"https://127.0.0.1:1\"]";
    refused(
        "troupe.listen-metrics-urls = \"https://127.0.0.1:1\" is wrong: expected a separate"
            + " address, http://127.0.0.1:1 uses the same one",
        cert,
        key,
        "listen-metrics-" + both);
    for (String own : List.of("listen-client-", "listen-client-http-")) {
      assertThat(settings(cert, key, own + both))
          .as("T2: clients may connect with or without TLS")
          .isNotNull();
    }
    refused(
        "expected a separate address, https://127.0.0.1:1 uses the same one",
        cert,
        key,
        "listen-client-urls = [\"https://127.0.0.1:1\"]",
        "listen-client-http-urls = [\"http://127.0.0.1:1\"]");
    refused(
        "expected a separate address, https://127.0.0.1:1 uses the same one",
        cert,
        key,
        "listen-client-urls = [\"https://127.0.0.1:1\", \"http://127.0.0.1:1\","
            + " \"https://127.0.0.1:1\"]");
    refused(
        "troupe.listen-client-http-urls",
        "listen-client-urls = [\"http://127.0.0.1:1\"]",
        "listen-client-http-urls = [\"http://127.0.0.1:1\"]");
    assertThat(
            settings("listen-client-urls = [\"http://127.0.0.1:0\", \"http://127.0.0.1:0\"]")
                .listenClientUrls())
        .as("any two free ports")
        .hasSize(2);
  }

  @Test
  void inconsistentCertificateSettingsAreRefused_F7() {
    String cert = "client-transport-security.cert-file = c.pem";
    String key = "client-transport-security.key-file = k.pem";
    refused("KeyFile and CertFile must both be present[key: , cert: c.pem]", cert);
    refused(
        "ClientKeyFile and ClientCertFile must both be present or both absent: key: , cert: cc.pem",
        cert,
        key,
        "client-transport-security.client-cert-file = cc.pem");
    refused(
        "AllowedCNs and AllowedHostnames are mutually exclusive",
        cert,
        key,
        "client-transport-security.allowed-cn = [a]",
        "client-transport-security.allowed-hostname = [b]");
    refused(
        "troupe.client-transport-security.client-cert-auth = \"true\" is wrong",
        "client-transport-security.client-cert-auth = true");
    refused(
        "troupe.peer-transport-security.auto-tls = \"true\" is wrong",
        "peer-transport-security.auto-tls = true",
        "peer-transport-security.client-cert-auth = true");
    String binding = "troupe.peer-transport-security.bind-members = \"true\" is wrong";
    refused(binding, "peer-transport-security.bind-members = true");
    refused(
        binding,
        "peer-transport-security.bind-members = true",
        "peer-transport-security.cert-file = c.pem",
        "peer-transport-security.key-file = k.pem",
        "listen-peer-urls = [\"https://127.0.0.1:1\"]",
        "initial-advertise-peer-urls = [\"https://127.0.0.1:1\"]");
  }

  @Test
  void tlsVersionsAndSuites_F7_TL6() {
    refused(
        "unexpected TLS version \"TLS1.1\" (must be one of: TLS1.2, TLS1.3)",
        "tls-min-version = TLS1.1");
    refused(
        "min version (TLS1.3) is greater than max version (TLS1.2)",
        "tls-min-version = TLS1.3",
        "tls-max-version = TLS1.2");
    refused("unexpected TLS cipher suite \"X\"", "cipher-suites = [X]");
    refused(
        "cipher suites cannot be configured when only TLS1.3 is enabled",
        "tls-min-version = TLS1.3",
        "cipher-suites = [TLS_AES_128_GCM_SHA256]");
  }

  @Test
  void settingsOfClientAndPeerPorts() {
    NodeSettings read =
        settings(
            "data-dir = /d",
            "listen-client-urls = [\"https://127.0.0.1:1\", \"http://127.0.0.1:2\"]",
            "client-transport-security.cert-file = c.pem",
            "client-transport-security.key-file = k.pem",
            "client-transport-security.trusted-ca-file = ca.pem",
            "client-transport-security.client-cert-auth = true",
            "client-transport-security.allowed-cn = \"a,b\"",
            "listen-peer-urls = [\"https://[::1]:3\"]",
            "peer-transport-security.auto-tls = true",
            "self-signed-cert-validity = 4");
    TlsSettings client = read.clientTls().orElseThrow();
    assertThat(client.certFile()).isEqualTo("c.pem");
    assertThat(client.trustedCaFile()).isEqualTo("ca.pem");
    assertThat(client.clientCertAuth()).isTrue();
    assertThat(client.allowedCns()).containsExactly("a", "b");
    assertThat(client.checksAddress()).isTrue();
    assertThat(client.selfSigned()).isEmpty();
    TlsSettings peer = read.peerTls().orElseThrow();
    assertThat(peer.certFile()).isEqualTo("/d/fixtures/peer/cert.pem");
    assertThat(peer.keyFile()).isEqualTo("/d/fixtures/peer/key.pem");
    assertThat(peer.trustAnyCertificate()).isTrue();
    assertThat(peer.selfSigned())
        .hasValue(new SelfSigned.Order(Path.of("/d/fixtures/peer"), List.of("::1"), 4));
    refused(
        "troupe.self-signed-cert-validity = \"0\" is wrong: it should be greater than 0",
        "client-transport-security.auto-tls = true",
        "self-signed-cert-validity = 0");
  }

  @Test
  void givenCertificatesOverrideAutoTls_TL5() {
    TlsSettings given =
        settings(
                "peer-transport-security.cert-file = c.pem",
                "peer-transport-security.key-file = k.pem",
                "peer-transport-security.auto-tls = true")
            .peerTls()
            .orElseThrow();
    assertThat(given.selfSigned()).isEmpty();
    assertThat(given.trustAnyCertificate()).isFalse();
  }
}
