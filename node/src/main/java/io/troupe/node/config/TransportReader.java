package io.troupe.node.config;

import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.SelfSigned;
import io.troupe.node.tls.TlsException;
import io.troupe.node.tls.TlsSettings;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Reads the TLS settings of both kinds of ports (4.2, 4.4). Contradictory settings are refused in
 * etcd's words.
 */
public final class TransportReader {
  private static final String CLIENT = "client-transport-security";
  private static final String PEER = "peer-transport-security";
  private static final String BIND_MEMBERS = PEER + ".bind-members";

  private final SettingsReader reader;
  private final Path dataDir;
  private final List<String> suites;
  private final String minVersion;
  private final String maxVersion;
  private final int years;

  /**
   * Creates a reader and checks the settings that both kinds of ports share.
   *
   * @param dataDir directory of the certificates of auto-TLS
   */
  TransportReader(SettingsReader reader, Path dataDir) {
    this.reader = reader;
    this.dataDir = dataDir;
    this.suites = texts("cipher-suites", "[\"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\"]");
    this.minVersion = reader.text("tls-min-version");
    this.maxVersion = reader.text("tls-max-version");
    this.years = (int) reader.number("self-signed-cert-validity", 0, 100);
    if (suites.isEmpty() && minVersion.equals("TLS1.2") && maxVersion.isEmpty()) {
      // Without TLS no class of TLS is loaded.
      return;
    }
    try {
      TlsSettings.checkProtocol(suites, minVersion, maxVersion);
    } catch (TlsException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.tls-min-version = \""
              + minVersion
              + "\", troupe.tls-max-version = \""
              + maxVersion
              + "\", troupe.cipher-suites = "
              + suites
              + " is wrong: "
              + wrong.getMessage(),
          wrong);
    }
  }

  /**
   * Returns TLS of the ports for clients, HTTP and metrics.
   *
   * @throws StartException if one of their URLs is https and there is no certificate
   */
  Optional<TlsSettings> client(List<URI> listen, NodeSettings.Http http) {
    requireAddressesOnce(listen, http);
    List<URI> served = new ArrayList<>(listen);
    served.addAll(http.listenUrls());
    boolean certAuth = reader.flag(CLIENT + ".client-cert-auth");
    Optional<TlsSettings> tls = read(CLIENT, hosts(served), false);
    if (tls.isPresent()) {
      return tls;
    }
    requirePlain("listen-client-urls", listen, "client url");
    requirePlain("listen-client-http-urls", http.listenUrls(), "client url");
    requirePlain("listen-metrics-urls", http.metricsUrls(), "metrics secure url");
    if (certAuth) {
      // etcd only warns, and then serves the clients that the operator wanted to refuse.
      throw SettingsReader.refused(
          CLIENT + ".client-cert-auth", "true", "expected " + certificates(CLIENT) + " with it");
    }
    return tls;
  }

  /**
   * Returns TLS of the ports for members.
   *
   * @throws StartException if one of their URLs is https and there is no certificate
   */
  Optional<TlsSettings> peer(List<URI> listen) {
    Optional<TlsSettings> tls = read(PEER, hosts(listen), reader.flag(PEER + ".auto-tls"));
    if (reader.flag(BIND_MEMBERS)
        && (listen.stream().noneMatch(TransportReader::isSecure)
            || tls.isEmpty()
            || tls.get().trustAnyCertificate()
            || !(tls.get().clientCertAuth() || !tls.get().trustedCaFile().isEmpty()))) {
      throw SettingsReader.refused(
          BIND_MEMBERS,
          "true",
          "expected https peer URLs, and troupe."
              + PEER
              + ".cert-file, .key-file and .trusted-ca-file with it");
    }
    if (tls.isEmpty()) {
      for (URI url : listen) {
        if (isSecure(url)) {
          throw SettingsReader.refused(
              "listen-peer-urls",
              url.toString(),
              "cannot listen on TLS for "
                  + url.getAuthority()
                  + ": KeyFile and CertFile are not presented (expected "
                  + certificates(PEER)
                  + ")");
        }
      }
    }
    return tls;
  }

  /**
   * Requires that each address has one use; a client port may serve with TLS, without it, or both
   * (T2).
   */
  private static void requireAddressesOnce(List<URI> listen, NodeSettings.Http http) {
    requireFree("listen-client-urls", listen, true, List.of());
    List<URI> taken = new ArrayList<>(listen);
    requireFree("listen-client-http-urls", http.listenUrls(), true, taken);
    taken.addAll(http.listenUrls());
    requireFree("listen-metrics-urls", http.metricsUrls(), false, taken);
  }

  /**
   * Checks the URLs of a setting.
   *
   * @param both true if two of them may share an address if one uses TLS
   * @param taken URLs of other settings
   */
  private static void requireFree(String key, List<URI> urls, boolean both, List<URI> taken) {
    for (int i = 0; i < urls.size(); i++) {
      URI url = urls.get(i);
      for (URI other : taken) {
        requireOther(key, url, other);
      }
      for (URI other : urls.subList(0, i)) {
        if (!both || isSecure(url) == isSecure(other)) {
          requireOther(key, url, other);
        }
      }
    }
  }

  private static void requireOther(String key, URI url, URI other) {
    if (ListenAddress.isSame(url, other)) {
      throw SettingsReader.refused(
          key, url.toString(), "expected a separate address, " + other + " uses the same one");
    }
  }

  private static void requirePlain(String key, List<URI> urls, String what) {
    for (URI url : urls) {
      if (isSecure(url)) {
        throw SettingsReader.refused(
            key,
            url.toString(),
            "TLS key/cert (--cert-file, --key-file) must be provided for "
                + what
                + " "
                + url
                + " with HTTPS scheme (expected "
                + certificates(CLIENT)
                + ")");
      }
    }
  }

  private static String certificates(String block) {
    return "troupe." + block + ".cert-file and .key-file, or .auto-tls = true";
  }

  /** Returns true if the URL requires TLS. */
  public static boolean isSecure(URI url) {
    return "https".equals(url.getScheme()) || "unixs".equals(url.getScheme());
  }

  private static List<String> hosts(List<URI> urls) {
    return urls.stream()
        // A client of a unix socket connects to this machine.
        .map(url -> SocketUrl.is(url) ? "localhost" : bare(url.getHost()))
        .distinct()
        .toList();
  }

  /** Removes the brackets of an IPv6 address in a URL. */
  private static String bare(String host) {
    return host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
  }

  private Optional<TlsSettings> read(
      String block, List<String> hosts, boolean trustAnyCertificate) {
    String cert = reader.text(block + ".cert-file");
    String key = reader.text(block + ".key-file");
    boolean given = !cert.isEmpty() || !key.isEmpty();
    if (given && (cert.isEmpty() || key.isEmpty())) {
      String missing = cert.isEmpty() ? ".cert-file" : ".key-file";
      throw SettingsReader.refused(
          block + missing,
          "",
          "KeyFile and CertFile must both be present[key: " + key + ", cert: " + cert + "]");
    }
    boolean autoTls = reader.flag(block + ".auto-tls");
    if (!given && !autoTls) {
      return Optional.empty();
    }
    Optional<SelfSigned.Order> order = Optional.empty();
    if (!given) {
      order = Optional.of(order(block, hosts));
      cert = order.get().cert().toString();
      key = order.get().key().toString();
    }
    return Optional.of(settings(block, cert, key, order, trustAnyCertificate && !given));
  }

  /** TL5. */
  private SelfSigned.Order order(String block, List<String> hosts) {
    if (years == 0) {
      throw SettingsReader.refused(
          "self-signed-cert-validity", "0", "it should be greater than 0 with auto-tls");
    }
    String kind = block.equals(CLIENT) ? "client" : "peer";
    return new SelfSigned.Order(dataDir.resolve("fixtures").resolve(kind), hosts, years);
  }

  private TlsSettings settings(
      String block,
      String cert,
      String key,
      Optional<SelfSigned.Order> order,
      boolean trustAnyCertificate) {
    String clientCert = reader.text(block + ".client-cert-file");
    String clientKey = reader.text(block + ".client-key-file");
    if (clientCert.isEmpty() != clientKey.isEmpty()) {
      throw SettingsReader.refused(
          block + (clientCert.isEmpty() ? ".client-cert-file" : ".client-key-file"),
          "",
          "ClientKeyFile and ClientCertFile must both be present or both absent: key: "
              + clientKey
              + ", cert: "
              + clientCert);
    }
    List<String> cns = texts(block + ".allowed-cn", "[\"member\"]");
    List<String> hostnames = texts(block + ".allowed-hostname", "[\"member.example.org\"]");
    if (!cns.isEmpty() && !hostnames.isEmpty()) {
      throw SettingsReader.refused(
          block + ".allowed-hostname",
          String.join(",", hostnames),
          "AllowedCNs and AllowedHostnames are mutually exclusive (cns="
              + cns
              + ", hostnames="
              + hostnames
              + ")");
    }
    boolean certAuth = reader.flag(block + ".client-cert-auth");
    String ca = reader.text(block + ".trusted-ca-file");
    if (trustAnyCertificate && (certAuth || !ca.isEmpty())) {
      // etcd ignores that verification was requested.
      throw SettingsReader.refused(
          block + ".auto-tls",
          "true",
          "expected no client-cert-auth and no trusted-ca-file with it: no client is verified then");
    }
    return new TlsSettings(
        cert,
        key,
        clientCert,
        clientKey,
        ca,
        certAuth,
        reader.text(block + ".crl-file"),
        cns,
        hostnames,
        suites,
        minVersion,
        maxVersion,
        trustAnyCertificate,
        !trustAnyCertificate && !reader.flag(block + ".skip-client-san-verification"),
        block.equals(PEER) && reader.flag(BIND_MEMBERS),
        order);
  }

  private List<String> texts(String key, String example) {
    return SettingsReader.given(reader.texts(key, example));
  }
}
