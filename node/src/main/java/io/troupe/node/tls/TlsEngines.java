package io.troupe.node.tls;

import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Creates engines for new connections. Each uses the current files (TL1), including the CAs and the
 * list of revoked certificates. Open connections are not affected, and earlier sessions are not
 * resumed after a change. Thread-safe.
 */
public final class TlsEngines {
  static {
    Renegotiation.refuse();
  }

  private final TlsSettings settings;
  private final TlsContexts servers;
  private final TlsContexts clients;
  private final String[] suites;
  private final String[] versions;

  /**
   * Generates the self-signed certificate if configured, and reads all files once.
   *
   * @throws TlsException if they cannot be used, or a setting is wrong
   */
  public TlsEngines(TlsSettings settings) {
    this.settings = settings;
    if (!settings.allowedCns().isEmpty() && !settings.allowedHostnames().isEmpty()) {
      throw new TlsException(
          "allowed common names and allowed hostnames cannot both be set: "
              + settings.allowedCns()
              + ", "
              + settings.allowedHostnames());
    }
    settings.selfSigned().ifPresent(SelfSigned::ensure);
    ReloadableFile<X509ExtendedTrustManager> authorities = authorities();
    ReloadableFile<RevokedSerials> revoked = revoked();
    this.servers = contexts(settings.certFile(), settings.keyFile(), authorities, revoked);
    boolean own = settings.clientCertFile().isEmpty();
    this.clients =
        own
            ? servers
            : contexts(settings.clientCertFile(), settings.clientKeyFile(), authorities, revoked);
    SSLContext first = servers.get();
    SSLParameters known = first.getSupportedSSLParameters();
    this.versions =
        CipherNames.versions(settings.minVersion(), settings.maxVersion()).toArray(new String[0]);
    this.suites =
        CipherNames.suites(
                settings.cipherSuites(),
                Arrays.asList(first.getDefaultSSLParameters().getCipherSuites()),
                Set.of(known.getCipherSuites()))
            .toArray(new String[0]);
  }

  /**
   * Returns the current certificate that this member presents on outgoing connections.
   *
   * @throws TlsException if it cannot be read
   */
  public X509Certificate shownByClients() {
    return PemFiles.certificates(Path.of(clientCertificate(settings))).get(0);
  }

  private static String clientCertificate(TlsSettings settings) {
    return settings.clientCertFile().isEmpty() ? settings.certFile() : settings.clientCertFile();
  }

  /** Returns the settings. */
  public TlsSettings settings() {
    return settings;
  }

  /** Returns an engine for an incoming connection. */
  public SSLEngine server() {
    SSLEngine engine = servers.get().createSSLEngine();
    engine.setUseClientMode(false);
    engine.setSSLParameters(serverParameters());
    return engine;
  }

  /**
   * Secures an accepted connection, before its handshake.
   *
   * @return leaves {@code accepted} open when it closes, also after a failed handshake
   */
  public SSLSocket server(Socket accepted) throws IOException {
    SSLSocket socket =
        (SSLSocket) servers.get().getSocketFactory().createSocket(accepted, null, false);
    socket.setUseClientMode(false);
    socket.setSSLParameters(serverParameters());
    return socket;
  }

  /**
   * Secures an outgoing connection, before its handshake.
   *
   * @param connected a connected socket
   * @param host name that the other side's certificate must be valid for
   * @return closes {@code connected} with itself
   */
  public SSLSocket client(Socket connected, String host, int port) throws IOException {
    SSLSocket socket =
        (SSLSocket) clientContext().getSocketFactory().createSocket(connected, host, port, true);
    socket.setUseClientMode(true);
    socket.setSSLParameters(clientParameters());
    return socket;
  }

  /** Returns the context of outgoing connections, with the current files. */
  SSLContext clientContext() {
    return clients.get();
  }

  private SSLParameters serverParameters() {
    SSLParameters parameters = new SSLParameters(suites, versions);
    if (settings.wantsCertificate()) {
      parameters.setNeedClientAuth(true);
    }
    return parameters;
  }

  /** Returns the parameters of outgoing connections. */
  SSLParameters clientParameters() {
    SSLParameters parameters = new SSLParameters(suites, versions);
    if (!settings.trustAnyCertificate()) {
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
    }
    return parameters;
  }

  private TlsContexts contexts(
      String cert,
      String key,
      ReloadableFile<X509ExtendedTrustManager> authorities,
      ReloadableFile<RevokedSerials> revoked) {
    List<Path> files = List.of(Path.of(cert), Path.of(key));
    ReloadableFile<KeyManager[]> own =
        new ReloadableFile<>(
            files, () -> read(files, () -> KeyFiles.own(files.get(0), files.get(1))));
    return new TlsContexts(settings, own, authorities, revoked);
  }

  private ReloadableFile<X509ExtendedTrustManager> authorities() {
    String file = settings.trustedCaFile();
    List<Path> files = file.isEmpty() ? List.of() : List.of(Path.of(file));
    return new ReloadableFile<>(
        files,
        () ->
            settings.trustAnyCertificate()
                ? new TrustAllManager()
                : read(files, () -> KeyFiles.signedBy(file)));
  }

  private ReloadableFile<RevokedSerials> revoked() {
    if (settings.crlFile().isEmpty()) {
      return new ReloadableFile<>(List.of(), RevokedSerials::none);
    }
    Path file = Path.of(settings.crlFile());
    return new ReloadableFile<>(List.of(file), () -> RevokedSerials.of(file));
  }

  /** Reads an object from files. */
  private interface FromFiles<T> {
    T read() throws GeneralSecurityException, IOException;
  }

  private static <T> T read(List<Path> files, FromFiles<T> what) {
    try {
      return what.read();
    } catch (GeneralSecurityException | IOException e) {
      String names = files.stream().map(Path::toString).collect(Collectors.joining(" and "));
      throw new TlsException("cannot use " + names + ": " + e.getMessage(), e);
    }
  }
}
