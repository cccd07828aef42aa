package io.troupe.node;

import io.troupe.node.discovery.DiscoverySettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** How a first member finds the others, out of the configuration (DI1, F7). */
final class DiscoveryReader {
  private static final String ENDPOINTS = "discovery.endpoints";
  private static final String FORM = "URLs http://host:port or https://host:port, or host:port";

  private final SettingsReader reader;

  DiscoveryReader(SettingsReader reader) {
    this.reader = reader;
  }

  /** Empty unless token and endpoints are there; only one of them is refused. */
  Optional<DiscoverySettings> read() {
    String token = reader.text("discovery.token");
    List<String> given = reader.texts(ENDPOINTS, "[\"http://10.0.0.9:2379\"]");
    boolean none = SettingsReader.given(given).isEmpty();
    if (none && token.isEmpty()) {
      return Optional.empty();
    }
    if (none || token.isEmpty()) {
      throw SettingsReader.refused(
          none ? ENDPOINTS : "discovery.token",
          "",
          "both --discovery-token and --discovery-endpoints are needed for discovery");
    }
    if (token.indexOf('/') >= 0) {
      throw SettingsReader.wrong("discovery.token", token, "a token without a slash");
    }
    if (!SettingsReader.given(reader.texts("initial-cluster", "[]")).isEmpty()) {
      throw SettingsReader.refused(
          ENDPOINTS, String.join(",", given), "initial-cluster is given too: expected one of both");
    }
    String cert = reader.text("discovery.cert-file");
    String key = reader.text("discovery.key-file");
    if (cert.isEmpty() != key.isEmpty()) {
      throw SettingsReader.wrong(
          "discovery.cert-file", cert, "a certificate and discovery.key-file, or none of both");
    }
    boolean plain = reader.flag("discovery.insecure-transport");
    List<URI> endpoints = new ArrayList<>();
    for (String each : given) {
      endpoints.add(endpoint(each.trim(), plain ? "http://" : "https://"));
    }
    return Optional.of(
        new DiscoverySettings(
            token,
            endpoints,
            time("discovery.dial-timeout"),
            time("discovery.request-timeout"),
            cert,
            key,
            reader.text("discovery.trusted-ca-file"),
            reader.flag("discovery.insecure-skip-tls-verify"),
            reader.text("discovery.user"),
            reader.text("discovery.password")));
  }

  private Duration time(String key) {
    return reader.duration(key, Duration.ofMillis(1), Duration.ofHours(1));
  }

  /** F7: none is empty. */
  private static URI endpoint(String text, String scheme) {
    try {
      URI url = new URI(text.contains("://") ? text : scheme + text);
      boolean known = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      boolean bare = url.getRawPath() == null || url.getRawPath().isEmpty();
      if (known && bare && url.getHost() != null && url.getPort() > 0 && url.getPort() < 65536) {
        return url;
      }
    } catch (URISyntaxException malformed) {
      throw SettingsReader.wrong(ENDPOINTS, text, FORM);
    }
    throw SettingsReader.wrong(ENDPOINTS, text, FORM);
  }
}
