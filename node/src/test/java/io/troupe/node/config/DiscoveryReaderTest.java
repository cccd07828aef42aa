package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.node.TestConfig;
import io.troupe.node.discovery.DiscoverySettings;
import io.troupe.node.discovery.SrvSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.start.InitialCluster;
import java.net.URI;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Discovery settings (F6, F7, section 4.4). */
class DiscoveryReaderTest {
  private final Map<String, Object> given =
      new HashMap<>(
          Map.of(
              "troupe.name", "n1",
              "troupe.discovery.token", "t",
              "troupe.discovery.endpoints", List.of("http://a:1")));

  private DiscoveryReaderTest with(String key, Object value) {
    given.put("troupe." + key, value);
    return this;
  }

  private DiscoverySettings settings() {
    return NodeSettings.of(TestConfig.of(given)).discovery().orElseThrow();
  }

  private Optional<SrvSettings> srv() {
    return NodeSettings.of(TestConfig.of(given)).srv();
  }

  private void refused(String text) {
    assertThatThrownBy(this::settings)
        .isInstanceOf(StartException.class)
        .hasMessageContaining(text)
        .extracting(failure -> ((StartException) failure).exitCode())
        .isEqualTo(ExitCode.CONFIGURATION);
  }

  @Test
  void discoveryIsOffByDefault() {
    given.clear();
    assertThat(NodeSettings.of(TestConfig.of(given)).discovery()).isEmpty();
  }

  @Test
  void endpointsAreListOrOneString() {
    assertThat(settings().endpoints()).containsExactly(URI.create("http://a:1"));
    with("discovery.endpoints", "http://a:1, https://b:2,[::1]:3");
    assertThat(settings().endpoints())
        .containsExactly(
            URI.create("http://a:1"), URI.create("https://b:2"), URI.create("http://[::1]:3"));
    assertThat(settings().dialTimeout()).isEqualTo(Duration.ofSeconds(2));
    assertThat(settings().requestTimeout()).isEqualTo(Duration.ofSeconds(5));
  }

  /** As in etcd, certificate files enable TLS although insecure-transport is true by default. */
  @Test
  void endpointWithoutSchemeUsesTlsIfTlsIsConfigured() {
    with("discovery.endpoints", "b:2");
    assertThat(settings().endpoints()).containsExactly(URI.create("http://b:2"));
    with("discovery.insecure-transport", false);
    assertThat(settings().endpoints()).containsExactly(URI.create("https://b:2"));
    with("discovery.insecure-transport", true).with("discovery.trusted-ca-file", "ca.pem");
    assertThat(settings().endpoints()).containsExactly(URI.create("https://b:2"));
    with("discovery.trusted-ca-file", "").with("discovery.insecure-skip-tls-verify", true);
    assertThat(settings().endpoints()).containsExactly(URI.create("https://b:2"));
    assertThat(settings().trustAnyCertificate()).isTrue();
  }

  @Test
  void passwordIsNotPrinted() {
    with("discovery.user", "u").with("discovery.password", "secret");
    assertThat(settings().password()).isEqualTo("secret");
    assertThat(settings().toString()).contains("user=u").doesNotContain("secret");
  }

  @Test
  void tokenAndEndpointsGoTogether_F7() {
    with("discovery.token", "");
    refused("both --discovery-token and --discovery-endpoints must be set");
    with("discovery.token", "t").with("discovery.endpoints", List.of());
    refused("both --discovery-token and --discovery-endpoints must be set");
  }

  @Test
  void emptyEndpointIsRefused_F7() {
    with("discovery.endpoints", "http://a:1,,http://b:1");
    refused("--discovery-endpoints must not contain empty endpoints");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"ftp://a:1", "http://a", "http://a:1/x", "unix://a:1", "a b:1", "http://a:0"})
  void endpointMustBeUrl(String endpoint) {
    with("discovery.endpoints", List.of(endpoint));
    refused("troupe.discovery.endpoints = \"" + endpoint);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/a", "a/", "a//b", "..", "a/../b", "."})
  void tokenMustBeValidKeySegment(String token) {
    with("discovery.token", token);
    refused("troupe.discovery.token = \"" + token);
  }

  @Test
  void tokenMayContainSlashes() {
    with("discovery.token", "prod/1");
    assertThat(settings().token()).isEqualTo("prod/1");
  }

  @Test
  void onlyOneDiscoveryMethodIsAllowed_F6() {
    with("initial-cluster", "n1=http://a:1");
    refused("multiple discovery or bootstrap flags are set. Choose one of \"initial-cluster\"");
  }

  @Test
  void settingsThatBelongTogetherAreRequiredTogether() {
    with("discovery.key-file", "k.pem");
    refused("troupe.discovery.cert-file = \"\" is wrong: discovery.key-file is given");
    with("discovery.key-file", "").with("discovery.user", "u");
    refused("troupe.discovery.password = \"\" is wrong: discovery.user is given");
  }

  @Test
  void joiningMemberCannotUseDiscovery() {
    with("initial-cluster-state", "existing");
    NodeSettings joining = NodeSettings.of(TestConfig.of(given));
    assertThatThrownBy(() -> InitialCluster.of(joining))
        .isInstanceOf(StartException.class)
        .hasMessageContaining(
            "discovery URL should not be set when joining existing initial cluster");
  }

  @Test
  void discoveryByDomain_DN1() {
    given.keySet().removeIf(key -> key.startsWith("troupe.discovery."));
    assertThat(srv()).isEmpty();
    with("discovery.srv", "example.org.").with("discovery.srv-name", "blue");
    assertThat(srv()).contains(new SrvSettings("example.org", "blue", ""));
    with("discovery.srv-server", "ns:70000");
    refused("expected host:port");
    with("discovery.srv-server", "dns://ns");
    refused("expected host:port");
    with("discovery.srv-server", "[::1]:53");
    assertThat(srv()).contains(new SrvSettings("example.org", "blue", "[::1]:53"));
    with("initial-cluster", "n1=http://a:1");
    refused("multiple discovery or bootstrap flags are set");
  }

  @Test
  void domainAndRegistryExcludeEachOther_F6() {
    with("discovery.srv", "example.org");
    refused("multiple discovery or bootstrap flags are set");
  }
}
