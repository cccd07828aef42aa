package io.troupe.node.ports;

import io.troupe.actors.peers.PeerAddress;
import io.troupe.actors.peers.PeerTls;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import io.troupe.node.tls.AddressChecks;
import io.troupe.node.tls.CertificateNames;
import io.troupe.node.tls.TlsEngines;
import io.troupe.node.tls.TlsException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;

/** TLS between members. */
final class MemberTls implements PeerTls {
  private final TlsEngines engines;
  private final AddressChecks checks = new AddressChecks();

  private MemberTls(TlsEngines engines) {
    this.engines = engines;
  }

  /**
   * Reads certificates and keys if the peer URL is https. With auto-tls it first generates them.
   *
   * @throws StartException if they cannot be used, or the URLs contradict each other
   */
  static Optional<PeerTls> of(NodeSettings node) {
    boolean secure = PeerAddress.isTls(node.peerUrl());
    requireSame(secure, node, "initial-advertise-peer-urls", node.initialAdvertisePeerUrls());
    requireSame(
        secure,
        node,
        "listen-peer-urls",
        node.boundPeerUrls().stream().map(URI::toString).toList());
    if (!secure) {
      return Optional.empty();
    }
    try {
      TlsEngines engines = new TlsEngines(node.peerTls().orElseThrow());
      node.initialAdvertisePeerUrls().forEach(url -> checkOwn(engines, url));
      return Optional.of(new MemberTls(engines));
    } catch (TlsException wrong) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.peer-transport-security cannot be used: " + wrong.getMessage(),
          wrong);
    }
  }

  private static void requireSame(
      boolean secure, NodeSettings node, String key, List<String> urls) {
    for (String url : urls) {
      if (PeerAddress.isTls(url) != secure) {
        throw new StartException(
            ExitCode.CONFIGURATION,
            "configuration: troupe.initial-advertise-peer-urls has "
                + node.peerUrl()
                + ", troupe."
                + key
                + " has "
                + url
                + ": expected https or unixs for all, or for none");
      }
    }
  }

  /**
   * With bind-members other members reject all messages of a member whose certificate is not valid
   * for the host of its peer URL: the member would wait for a leader forever.
   */
  private static void checkOwn(TlsEngines engines, String peerUrl) {
    if (!engines.settings().bindsMembers()) {
      return;
    }
    X509Certificate own = engines.shownByClients();
    String host = PeerAddress.of(peerUrl).bareHost();
    if (!CertificateNames.isValidFor(own, host)) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: troupe.peer-transport-security.bind-members = true, but the certificate"
              + " that this member shows to other members is for "
              + CertificateNames.all(own)
              + ": expected "
              + host
              + ", the host of troupe.initial-advertise-peer-urls");
    }
  }

  @Override
  public SSLSocket server(Socket accepted) throws IOException {
    return engines.server(accepted);
  }

  @Override
  public SSLSocket client(Socket connected, String host, int port) throws IOException {
    return engines.client(connected, host, port);
  }

  @Override
  public boolean bindsMembers() {
    return engines.settings().bindsMembers();
  }

  @Override
  public boolean isFor(SSLSession session, String host) {
    X509Certificate shown = CertificateNames.shown(session);
    return shown != null && CertificateNames.isValidFor(shown, host);
  }

  @Override
  public CompletionStage<Void> checkAddress(SSLSession session, @Nullable InetAddress from) {
    return from != null && engines.settings().checksAddress()
        ? checks.check(session, from)
        : CompletableFuture.completedFuture(null);
  }
}
