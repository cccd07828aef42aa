package io.troupe.node.ports;

import io.troupe.edge.connection.ConnectionSecurity;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.config.TransportReader;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.AddressChecks;
import io.troupe.node.tls.CertificateNames;
import io.troupe.node.tls.TlsEngines;
import io.troupe.node.tls.TlsException;
import io.troupe.node.tls.TlsSettings;
import java.net.InetAddress;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** TLS of the ports for clients, as the gateway needs it. */
public final class ClientTls implements ConnectionSecurity {
  private final TlsEngines engines;
  private final TlsSettings settings;
  private final AddressChecks checks = new AddressChecks();

  private ClientTls(TlsSettings settings) {
    this.settings = settings;
    this.engines = new TlsEngines(settings);
  }

  /**
   * Reads certificates and keys if a port needs them. With auto-tls it first generates them.
   *
   * @throws StartException if they cannot be used
   */
  public static Optional<ConnectionSecurity> of(NodeSettings node) {
    boolean needed =
        Stream.of(node.listenClientUrls(), node.http().listenUrls(), node.http().metricsUrls())
            .flatMap(urls -> urls.stream())
            .anyMatch((URI url) -> TransportReader.isSecure(url));
    if (!needed) {
      return Optional.empty();
    }
    try {
      return Optional.of(new ClientTls(node.clientTls().orElseThrow()));
    } catch (TlsException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.client-transport-security cannot be used: " + wrong.getMessage(),
          wrong);
    }
  }

  @Override
  public SSLEngine engine() {
    return engines.server();
  }

  @Override
  public boolean isLogin() {
    return settings.clientCertAuth();
  }

  @Override
  public @Nullable String commonName(SSLSession session) {
    X509Certificate shown = CertificateNames.shown(session);
    return shown == null ? null : CertificateNames.commonName(shown);
  }

  @Override
  public boolean checksAddress() {
    return settings.checksAddress();
  }

  @Override
  public CompletionStage<Void> checkAddress(SSLSession session, InetAddress client) {
    return checks.check(session, client);
  }
}
