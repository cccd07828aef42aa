package io.troupe.node.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;

/**
 * Engines for new connections. Each is made from the files as they are at that moment (TL1), CA and
 * list of void certificates included; connections that stand are not touched, and sessions of
 * before are not resumed. Thread-safe.
 */
public final class TlsEngines {
  static {
    Renegotiation.refuse();
  }

  /**
   * Sessions that are kept to be resumed, some 3 KiB each. Clients of these days bring theirs along
   * (tickets); by default the JDK would keep 20,480 of the others for a day, whoever they are.
   */
  private static final int SESSIONS = 1024;

  private final TlsSettings settings;
  private final Reloaded<SSLContext> servers;
  private final Reloaded<SSLContext> clients;
  private final String[] suites;
  private final String[] versions;

  /**
   * Makes the own certificate if that is asked for, and reads all files once.
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
    this.servers = reloaded(settings.certFile(), settings.keyFile());
    boolean own = settings.clientCertFile().isEmpty();
    this.clients = own ? servers : reloaded(settings.clientCertFile(), settings.clientKeyFile());
    SSLParameters known = servers.get().getSupportedSSLParameters();
    this.versions =
        CipherNames.versions(settings.minVersion(), settings.maxVersion()).toArray(new String[0]);
    this.suites =
        CipherNames.suites(
                settings.cipherSuites(),
                Arrays.asList(servers.get().getDefaultSSLParameters().getCipherSuites()),
                Set.of(known.getCipherSuites()))
            .toArray(new String[0]);
  }

  /** What they were made of. */
  public TlsSettings settings() {
    return settings;
  }

  /** For a connection that somebody else opened. */
  public SSLEngine server() {
    SSLEngine engine = prepared(servers.get().createSSLEngine());
    engine.setUseClientMode(false);
    if (settings.wantsCertificate()) {
      engine.setNeedClientAuth(true);
    }
    return engine;
  }

  /**
   * For a connection that this member opens.
   *
   * @param host what the other side's certificate must be for
   */
  public SSLEngine client(String host, int port) {
    SSLEngine engine = prepared(clients.get().createSSLEngine(host, port));
    engine.setUseClientMode(true);
    if (!settings.trustAnybody()) {
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
    }
    return engine;
  }

  private SSLEngine prepared(SSLEngine engine) {
    engine.setEnabledProtocols(versions);
    engine.setEnabledCipherSuites(suites);
    return engine;
  }

  private Reloaded<SSLContext> reloaded(String cert, String key) {
    List<Path> files = new ArrayList<>(List.of(Path.of(cert), Path.of(key)));
    if (!settings.trustedCaFile().isEmpty()) {
      files.add(Path.of(settings.trustedCaFile()));
    }
    if (!settings.crlFile().isEmpty()) {
      files.add(Path.of(settings.crlFile()));
    }
    return new Reloaded<>(files, () -> context(Path.of(cert), Path.of(key)));
  }

  private SSLContext context(Path cert, Path key) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(KeyFiles.own(cert, key), new TrustManager[] {trust()}, null);
      context.getServerSessionContext().setSessionCacheSize(SESSIONS);
      context.getClientSessionContext().setSessionCacheSize(SESSIONS);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new TlsException("cannot use " + cert + " and " + key + ": " + e.getMessage(), e);
    }
  }

  private TrustManager trust() throws GeneralSecurityException, IOException {
    if (settings.trustAnybody()) {
      return new TrustAnybody();
    }
    RevokedSerials revoked =
        settings.crlFile().isEmpty()
            ? RevokedSerials.none()
            : RevokedSerials.of(Path.of(settings.crlFile()));
    return new CheckedTrust(KeyFiles.signedBy(settings.trustedCaFile()), revoked, settings);
  }
}
