package io.troupe.node.flags;

import static io.troupe.node.flags.CommandLines.end;
import static io.troupe.node.flags.CommandLines.ends;
import static io.troupe.node.flags.CommandLines.read;
import static io.troupe.node.flags.CommandLines.settings;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Section 4: flags and variables. */
class EtcdCommandLineTest {
  private static final String STATE = "--initial-cluster-state=";
  private static final DeferredLogLine V2_DEPRECATED =
      DeferredLogLine.warning(
          "--v2-deprecation is deprecated and scheduled for removal in v3.8. The default value is"
              + " enforced, ignoring user input.");

  @TempDir Path directory = Path.of("");

  private String file(String... lines) throws IOException {
    return CommandLines.file(directory, lines);
  }

  @Test
  void allSpellingsAreAcceptedAndLastFlagWins_F3() {
    assertThat(
            settings(
                "--name=a",
                "-name",
                "b",
                "--heartbeat-interval",
                "50",
                "-election-timeout=500",
                "--strict-reconfig-check=false",
                "--name",
                "c"))
        .isEqualTo(
            Map.of(
                "troupe.name", "c",
                "troupe.log.format", "json",
                "troupe.data-dir", "c.etcd",
                "troupe.heartbeat-interval", "50 ms",
                "troupe.election-timeout", "500 ms",
                "troupe.strict-reconfig-check", "false"));
    assertThat(settings("--strict-reconfig-check").get("troupe.strict-reconfig-check"))
        .isEqualTo("true");
    assertThat(settings("--data-dir=", "--name="))
        .isEqualTo(
            Map.of(
                "troupe.name", "default",
                "troupe.data-dir", "default.etcd",
                "troupe.log.format", "json"));
  }

  @Test
  void wrongFlagsAreRefused_F3() {
    ends(2, "flag provided but not defined: -no-such", "--no-such=1");
    ends(2, "flag provided but not defined: -discovery", "--discovery=x");
    ends(2, "flag provided but not defined: -experimental-x", "--experimental-x");
    ends(2, "flag needs an argument: -name", "--name");
    ends(2, "bad flag syntax: ---name", "---name");
    ends(2, "invalid boolean value \"maybe\" for -pre-vote: parse error", "--pre-vote=maybe");
    ends(
        2,
        "invalid value \"x\" for flag -heartbeat-interval: parse error",
        "--heartbeat-interval",
        "x");
    ends(
        2,
        "invalid value \"5\" for flag -corrupt-check-time: invalid duration \"5\"",
        "--corrupt-check-time=5");
    ends(1, "\"start\" is not a valid flag", "start");
    ends(2, "invalid value \"foo\" for flag -initial-cluster-state: invalid value", STATE + "foo");
    ends(1, "\"false\" is not a valid flag", "--pre-vote", "false");
    ends(1, "\"x\" is not a valid flag", "--name=a", "--", "x");
    for (String proxy : List.of("gateway", "grpc-proxy")) {
      ends(
          1,
          '"'
              + proxy
              + "\" is not a valid flag: only members are started here; a TCP proxy, or"
              + " the proxy of an etcd 3.5 or later, can stand before them",
          proxy,
          "start");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:1/path, URL must not contain a path",
    "'http://127.0.0.1:1,http://10.0.0.1', URL address does not have the form \"host:port\"",
    "127.0.0.1:2379, 'URL scheme must be http, https, unix, or unixs'",
    "ftp://127.0.0.1:1, 'URL scheme must be http, https, unix, or unixs'",
  })
  void invalidUrlsAreRefused_F3(String urls, String why) {
    String last = urls.substring(urls.lastIndexOf(',') + 1);
    for (String flag :
        List.of("listen-metrics-urls", "listen-peer-urls", "initial-advertise-peer-urls")) {
      ends(
          2,
          "invalid value \"" + urls + "\" for flag -" + flag + ": " + why + ": " + last,
          "--" + flag + "=" + urls);
      FlagException variable =
          end(Map.of("ETCD_" + flag.replace('-', '_').toUpperCase(Locale.ROOT), urls));
      assertThat(variable.status()).isEqualTo(1);
    }
  }

  @Test
  void helpAndVersion_F3_F4() {
    ends(1, "\"foo\" is not a valid flag", "--version", "foo");
    ends(2, "flag provided but not defined: -bogus", "--version", "--bogus");
    ends(0, "Usage:", "--name=x", "-h");
    ends(0, "etcd Version: 3.7.1", "--name", "x", "--version");
    assertThat(end(Map.of(), "--version").text().lines()).hasSize(4);
    // An argument of another flag is no flag.
    assertThat(settings("--name", "--version").get("troupe.name")).isEqualTo("--version");
    assertThat(settings("--version=false")).hasSize(3);
  }

  @Test
  void variablesReplaceFlags_F1() {
    EtcdCommandLine line =
        read(
            Map.of(
                "ETCD_NAME", "env",
                "ETCD_MAX_TXN_OPS", "7",
                "ETCD_INITIAL_CLUSTER_TOKEN", "",
                "ETCD_NO_SUCH", "1",
                "ETCD_VERSION", "3",
                "ETCD_VERIFY", "all",
                "OTHER", "x"),
            "--max-learners=3");
    assertThat(line.properties())
        .isEqualTo(
            Map.of(
                "troupe.name", "env",
                "troupe.log.format", "json",
                "troupe.data-dir", "env.etcd",
                "troupe.max-txn-ops", "7",
                "troupe.max-learners", "3"));
    assertThat(line.notices())
        .containsExactly(
            used("ETCD_MAX_TXN_OPS", "7"),
            used("ETCD_NAME", "env"),
            DeferredLogLine.warning("unrecognized environment variable")
                .with("environment-variable", "ETCD_NO_SUCH=1"),
            DeferredLogLine.warning("cannot set special environment variable")
                .with("key", "ETCD_VERSION")
                .with("value", "3"));
  }

  private static DeferredLogLine used(String variable, String value) {
    return DeferredLogLine.info("recognized and used environment variable")
        .with("variable-name", variable)
        .with("variable-value", value);
  }

  @Test
  void passwordIsNotPrinted_F1() {
    assertThat(read(Map.of("ETCD_DISCOVERY_PASSWORD", "secret")).notices())
        .containsExactly(used("ETCD_DISCOVERY_PASSWORD", "***"));
  }

  @Test
  void conflictingAndUnknownVariablesStopStart_F1() {
    for (String value : List.of("x", "")) {
      FlagException end = end(Map.of("ETCD_NAME", value), "--name=y");
      assertThat(end.status()).isEqualTo(1);
      assertThat(end)
          .hasMessageContaining("conflicting environment variable \"ETCD_NAME\" is shadowed");
    }
    FlagException wrong = end(Map.of("ETCD_PRE_VOTE", "maybe"));
    assertThat(wrong.status()).isEqualTo(1);
    assertThat(wrong).hasMessage("invalid value \"maybe\" for ETCD_PRE_VOTE: parse error");
  }

  @Test
  void tlsFlagsBecomeSettings() {
    assertThat(
            settings(
                "--cert-file=c.pem",
                "--trusted-ca-file=ca.pem",
                "--client-cert-auth",
                "--client-crl-file=crl",
                "--client-cert-allowed-hostname=a.test,b.test",
                "--peer-client-cert-file=pc.pem",
                "--peer-crl-file=pcrl",
                "--peer-cert-allowed-cn=me",
                "--peer-auto-tls",
                "--peer-skip-client-san-verification",
                "--self-signed-cert-validity=3",
                "--tls-min-version=TLS1.3"))
        .containsAllEntriesOf(
            Map.of(
                "troupe.client-transport-security.cert-file", "c.pem",
                "troupe.client-transport-security.trusted-ca-file", "ca.pem",
                "troupe.client-transport-security.client-cert-auth", "true",
                "troupe.client-transport-security.crl-file", "crl",
                "troupe.client-transport-security.allowed-hostname", "a.test,b.test"))
        .containsAllEntriesOf(
            Map.of(
                "troupe.peer-transport-security.client-cert-file", "pc.pem",
                "troupe.peer-transport-security.crl-file", "pcrl",
                "troupe.peer-transport-security.allowed-cn", "me",
                "troupe.peer-transport-security.auto-tls", "true",
                "troupe.peer-transport-security.skip-client-san-verification", "true",
                "troupe.self-signed-cert-validity", "3",
                "troupe.tls-min-version", "TLS1.3"))
        .hasSize(15);
  }

  @Test
  void conflictingFlagsAreRefused_F7() {
    ends(
        1,
        "--advertise-client-urls is required when --listen-client-urls is set explicitly",
        "--listen-client-urls=http://127.0.0.1:1");
    ends(
        1,
        "expected IP in URL for binding (http://example.org:1)",
        "--listen-peer-urls=http://127.0.0.1:1,http://example.org:1");
    ends(
        1,
        "multiple discovery or bootstrap flags are set. Choose one of \"initial-cluster\","
            + " \"discovery-endpoints\" or \"discovery-srv\"",
        "--initial-cluster=a=http://127.0.0.1:1",
        "--discovery-srv=example.org");
    assertThat(settings("--listen-peer-urls=http://[::1]:1,http://0.0.0.0:2,http://localhost:3"))
        .hasSize(5);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "listen-peer-urls",
        "listen-client-urls",
        "listen-client-http-urls",
        "listen-metrics-urls"
      })
  void listenerNeedsIpAddress_F7(String flag) {
    String advertised = "--advertise-client-urls=http://10.0.0.1:1";
    String listen = "--" + flag + "=";
    ends(
        1,
        "expected IP in URL for binding (http://example.com:32312)",
        advertised,
        listen + "http://127.0.0.1:1,http://example.com:32312");
    for (String address : List.of("127.0.0.1", "[::1]", "localhost")) {
      assertThat(settings(advertised, listen + "https://" + address + ":1"))
          .containsEntry("troupe." + flag, "https://" + address + ":1");
    }
  }

  @Test
  void samplingRateNeedsTracing_F7() {
    String on = "--enable-distributed-tracing";
    String rate = "--distributed-tracing-sampling-rate=";
    String wrong =
        "distributed tracing configuration is not valid: (tracing sampling rate must be ";
    ends(1, wrong + "less than 1000000)", on, rate + "1000001");
    ends(1, wrong + "positive)", on, rate + "-1");
    for (String right : List.of("0", "1", "1000000")) {
      assertThat(settings(on, rate + right))
          .containsEntry("troupe.tracing.enabled", "true")
          .containsEntry("troupe.tracing.sampling-rate", right);
    }
    assertThat(settings(rate + "1000001")).doesNotContainKey("troupe.tracing.enabled");
    assertThat(settings(on + "=false", rate + "-1"))
        .containsEntry("troupe.tracing.enabled", "false");
  }

  @Test
  void tracingFlagsInAllForms() throws IOException {
    Map<String, String> all =
        Map.of(
            "troupe.tracing.enabled", "true",
            "troupe.tracing.address", "10.0.0.9:4317",
            "troupe.tracing.service-name", "shop",
            "troupe.tracing.instance-id", "m1",
            "troupe.tracing.sampling-rate", "500");
    assertThat(
            settings(
                "--enable-distributed-tracing",
                "--distributed-tracing-address=10.0.0.9:4317",
                "--distributed-tracing-service-name=shop",
                "--distributed-tracing-instance-id=m1",
                "--distributed-tracing-sampling-rate=500"))
        .containsAllEntriesOf(all);
    assertThat(
            read(Map.of(
                    "ETCD_ENABLE_DISTRIBUTED_TRACING", "true",
                    "ETCD_DISTRIBUTED_TRACING_ADDRESS", "10.0.0.9:4317",
                    "ETCD_DISTRIBUTED_TRACING_SERVICE_NAME", "shop",
                    "ETCD_DISTRIBUTED_TRACING_INSTANCE_ID", "m1",
                    "ETCD_DISTRIBUTED_TRACING_SAMPLING_RATE", "500"))
                .properties())
        .containsAllEntriesOf(all);
    assertThat(
            settings(
                "--config-file",
                file(
                    "enable-distributed-tracing: true",
                    "distributed-tracing-address: 10.0.0.9:4317",
                    "distributed-tracing-service-name: shop",
                    "distributed-tracing-instance-id: m1",
                    "distributed-tracing-sampling-rate: 500")))
        .containsAllEntriesOf(all);
  }

  @ParameterizedTest
  @ValueSource(strings = {"--logger=capnslog", "--discovery-fallback=proxy"})
  void unsupportedFlagsStopStart(String flag) {
    FlagException end = end(Map.of(), flag);
    assertThat(end.status()).isEqualTo(1);
    assertThat(end).hasMessageContaining("is not supported by Troupe");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--cert-file=", "--max-wals=5", "--v", "--snapshot"})
  void defaultsAndIgnoredFlagsAreAcceptedSilently(String flag) {
    EtcdCommandLine line = read(Map.of(), flag);
    assertThat(line.properties())
        .containsOnlyKeys("troupe.name", "troupe.data-dir", "troupe.log.format")
        .containsEntry("troupe.log.format", "json");
    assertThat(line.notices()).isEmpty();
  }

  /** Texts of an etcd 3.7.1 with the same flags. */
  @Test
  void v2DeprecationStageIsChecked() throws IOException {
    String[] refused = {"not-yet", "", "gone,not-yet", "gone,"};
    String[] named = {"not-yet", "", "not-yet", ""};
    for (int i = 0; i < refused.length; i++) {
      ends(
          2,
          "invalid value \""
              + refused[i]
              + "\" for flag -v2-deprecation: invalid value \""
              + named[i]
              + '"',
          "--v2-deprecation=" + refused[i]);
    }
    FlagException variable = end(Map.of("ETCD_V2_DEPRECATION", "not-yet"));
    assertThat(variable.status()).isEqualTo(1);
    assertThat(variable)
        .hasMessage("invalid value \"not-yet\" for ETCD_V2_DEPRECATION: invalid value \"not-yet\"");
    assertThat(read(Map.of(), "--v2-deprecation", "gone,write-only-drop-data").properties())
        .hasSize(3);
    assertThat(read(Map.of(), "--config-file", file("v2-deprecation: not-yet")).notices())
        .contains(V2_DEPRECATED);
  }

  @Test
  void deprecatedFlagsAreLoggedInAllForms() throws IOException {
    DeferredLogLine snapshots =
        DeferredLogLine.warning(
            "--max-snapshots is deprecated in 3.6 and will be decommissioned in 3.8.");
    assertThat(read(Map.of(), "--v2-deprecation=write-only", "--max-snapshots=5").notices())
        .containsExactly(snapshots, V2_DEPRECATED);
    assertThat(read(Map.of("ETCD_MAX_SNAPSHOTS", "5")).notices()).contains(snapshots);
    assertThat(read(Map.of(), "--config-file", file("max-snapshots: 5")).notices())
        .contains(snapshots);
  }

  @Test
  void flagsWithoutEffectAreLoggedOnce() {
    EtcdCommandLine line = read(Map.of(), "--max-wals=9", "--max-wals=8", "--unsafe-no-fsync");
    assertThat(line.properties()).hasSize(3);
    assertThat(line.notices())
        .containsExactly(
            DeferredLogLine.warning("flag has no effect here")
                .with("flag", "max-wals")
                .with("reason", "the log is cut behind each snapshot"),
            DeferredLogLine.warning("flag has no effect here")
                .with("flag", "unsafe-no-fsync")
                .with("reason", "writes are always forced to the disk"));
  }

  @Test
  void givenPingTimesBecomeSettings_T4() {
    assertThat(settings()).doesNotContainKey("troupe.grpc-keepalive-interval");
    assertThat(
            settings(
                "--grpc-keepalive-min-time=1m",
                "--grpc-keepalive-interval=2h",
                "--grpc-keepalive-timeout=0"))
        .containsEntry("troupe.grpc-keepalive-min-time", "60000000000 ns")
        .containsEntry("troupe.grpc-keepalive-interval", "7200000000000 ns")
        .containsEntry("troupe.grpc-keepalive-timeout", "0 ns");
    assertThat(settings("--grpc-keepalive-min-time=0s"))
        .as("the default of gRPC")
        .containsEntry("troupe.grpc-keepalive-min-time", "5 minutes");
  }

  @Test
  void discoveryFlagsBecomeSettings_DI1() {
    assertThat(
            settings(
                "--discovery-token=t",
                "--discovery-endpoints=http://a:1,http://b:1",
                "--discovery-dial-timeout=1s",
                "--discovery-cacert=ca.pem",
                "--discovery-user=u",
                "--discovery-password=p"))
        .containsEntry("troupe.discovery.token", "t")
        .containsEntry("troupe.discovery.endpoints", "http://a:1,http://b:1")
        .containsEntry("troupe.discovery.dial-timeout", "1000000000 ns")
        .containsEntry("troupe.discovery.trusted-ca-file", "ca.pem")
        .containsEntry("troupe.discovery.user", "u")
        .containsEntry("troupe.discovery.password", "p");
  }

  @Test
  void dnsDiscoveryFlagsBecomeSettings_DN1() {
    assertThat(settings("--discovery-srv=example.org", "--discovery-srv-name=n"))
        .containsEntry("troupe.discovery.srv", "example.org")
        .containsEntry("troupe.discovery.srv-name", "n");
  }

  @Test
  void memoryAndPortFlagsBecomeSettings() {
    assertThat(settings("--memory-mlock", "--socket-reuse-port"))
        .containsEntry("troupe.memory-mlock", "true")
        .containsEntry("troupe.socket-reuse-port", "true");
    assertThat(read(Map.of(), "--socket-reuse-port").notices())
        .anyMatch(notice -> notice.text().contains("the peer port is not shared"));
    assertThat(read(Map.of(), "--socket-reuse-port=false").notices()).isEmpty();
  }

  @Test
  void loginAndHttpFlagsBecomeSettings() {
    assertThat(
            settings(
                "--auth-token=jwt,pub-key=a,sign-method=RS256",
                "--auth-token-ttl=60",
                "--bcrypt-cost=4",
                "--cors=http://a,http://b",
                "--host-whitelist=example.org",
                "--listen-metrics-urls=http://127.0.0.1:1",
                "--listen-client-http-urls=http://127.0.0.1:2",
                "--metrics=extensive",
                "--enable-pprof",
                "--enable-grpc-gateway=false"))
        .containsEntry("troupe.auth-token", "jwt,pub-key=a,sign-method=RS256")
        .containsEntry("troupe.auth-token-ttl", "60 s")
        .containsEntry("troupe.bcrypt-cost", "4")
        .containsEntry("troupe.cors", "http://a,http://b")
        .containsEntry("troupe.host-whitelist", "example.org")
        .containsEntry("troupe.listen-metrics-urls", "http://127.0.0.1:1")
        .containsEntry("troupe.listen-client-http-urls", "http://127.0.0.1:2")
        .containsEntry("troupe.metrics", "extensive")
        .containsEntry("troupe.enable-pprof", "true")
        .containsEntry("troupe.enable-grpc-gateway", "false");
    assertThat(settings("--auth-token=")).as("no logins").containsEntry("troupe.auth-token", "");
  }

  @Test
  void logFlagsBecomeSettings() {
    assertThat(
            settings(
                "--log-outputs=stderr,/var/log/etcd.log",
                "--enable-log-rotation",
                "--log-rotation-config-json={\"maxsize\": 7}",
                "--warning-apply-duration=1s",
                "--warning-unary-request-duration=2ms"))
        .containsEntry("troupe.log.outputs", "stderr,/var/log/etcd.log")
        .containsEntry("troupe.log.rotate", "true")
        .containsEntry("troupe.log.rotation", "{\"maxsize\": 7}")
        .containsEntry("troupe.warning-apply-duration", "1000000000 ns")
        .containsEntry("troupe.warning-unary-request-duration", "2000000 ns");
  }
}
