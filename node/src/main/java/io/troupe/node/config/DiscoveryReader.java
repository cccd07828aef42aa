package io.troupe.node.config;

import io.troupe.node.discovery.DiscoverySettings;
import io.troupe.node.discovery.SrvSettings;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/** Reads from the configuration how an initial member finds the other ones (DI1, DN1, F7). */
final class DiscoveryReader {
  private static final String ENDPOINTS = "discovery.endpoints";
  private static final String SEVERAL =
      "multiple discovery or bootstrap flags are set. Choose one of \"initial-cluster\","
          + " \"discovery-endpoints\" or \"discovery-srv\"";
  private static final Set<String> NO_SEGMENT = Set.of("", ".", "..");
  private static final String FORM = "URLs http://host:port or https://host:port, or host:port";

  private final SettingsReader reader;

  DiscoveryReader(SettingsReader reader) {
    this.reader = reader;
  }

  /** Returns empty unless token and endpoints are set. Refuses one without the other. */
  Optional<DiscoverySettings> registry() {
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
          "both --discovery-token and --discovery-endpoints must be set");
    }
    // The token is a part of keys, which etcd handles as paths.
    if (Stream.of(token.split("/", -1)).anyMatch(NO_SEGMENT::contains)) {
      throw SettingsReader.wrong(
          "discovery.token", token, "a name, or names with single slashes between them");
    }
    requireAlone(ENDPOINTS, String.join(",", given));
    both("discovery.cert-file", "discovery.key-file");
    both("discovery.user", "discovery.password");
    String cert = reader.text("discovery.cert-file");
    String key = reader.text("discovery.key-file");
    String authorities = reader.text("discovery.trusted-ca-file");
    boolean trustAnyCertificate = reader.flag("discovery.insecure-skip-tls-verify");
    // As in etcd, any TLS setting enables TLS.
    boolean plain =
        reader.flag("discovery.insecure-transport")
            && cert.isEmpty()
            && authorities.isEmpty()
            && !trustAnyCertificate;
    List<URI> endpoints = new ArrayList<>();
    for (String each : given) {
      if (each.isBlank()) {
        throw SettingsReader.refused(
            ENDPOINTS,
            String.join(",", given),
            "--discovery-endpoints must not contain empty endpoints");
      }
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
            authorities,
            trustAnyCertificate,
            reader.text("discovery.user"),
            reader.text("discovery.password")));
  }

  /** Returns empty unless a domain is set. */
  Optional<SrvSettings> srv() {
    String domain = reader.text("discovery.srv");
    if (domain.isEmpty()) {
      return Optional.empty();
    }
    if (!reader.text("discovery.token").isEmpty()) {
      throw SettingsReader.refused("discovery.srv", domain, SEVERAL);
    }
    requireAlone("discovery.srv", domain);
    String server = reader.text("discovery.srv-server");
    if (!server.isEmpty() && !SettingsReader.isHostAndPort(server)) {
      throw SettingsReader.wrong("discovery.srv-server", server, "host:port");
    }
    return Optional.of(
        new SrvSettings(
            domain.endsWith(".") ? domain.substring(0, domain.length() - 1) : domain,
            reader.text("discovery.srv-name"),
            server));
  }

  /** F6 */
  private void requireAlone(String key, String value) {
    if (!SettingsReader.given(reader.texts("initial-cluster", "[]")).isEmpty()) {
      throw SettingsReader.refused(key, value, SEVERAL);
    }
  }

  private void both(String one, String other) {
    if (reader.text(one).isEmpty() != reader.text(other).isEmpty()) {
      boolean first = reader.text(one).isEmpty();
      throw SettingsReader.refused(
          first ? one : other, "", (first ? other : one) + " is given: expected both, or none");
    }
  }

  private Duration time(String key) {
    return reader.duration(key, Duration.ofMillis(1), Duration.ofHours(1));
  }

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
