package io.troupe.ctl.client;

import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolNames;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.IdentityCipherSuiteFilter;
import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Builds the TLS context of a client from PEM files. */
public final class TlsContext {
  private static final char[] NO_PASSWORD = new char[0];

  private TlsContext() {}

  /**
   * @throws IllegalArgumentException if a file cannot be read or has another content; the message
   *     names it
   */
  public static SSLContext of(TlsSettings settings) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys(settings), trust(settings), null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("cannot set up TLS: " + e.getMessage(), e);
    }
  }

  /** The context of a gRPC connection, which selects HTTP/2 with ALPN. */
  static SslContext http2(TlsSettings settings) {
    return new JdkSslContext(
        of(settings),
        true,
        null,
        IdentityCipherSuiteFilter.INSTANCE,
        new ApplicationProtocolConfig(
            ApplicationProtocolConfig.Protocol.ALPN,
            ApplicationProtocolConfig.SelectorFailureBehavior.NO_ADVERTISE,
            ApplicationProtocolConfig.SelectedListenerFailureBehavior.ACCEPT,
            ApplicationProtocolNames.HTTP_2),
        ClientAuth.NONE,
        null,
        false);
  }

  private static KeyManager[] keys(TlsSettings settings) throws GeneralSecurityException {
    if (settings.cert().isEmpty() && settings.key().isEmpty()) {
      return new KeyManager[0];
    }
    if (settings.cert().isEmpty() || settings.key().isEmpty()) {
      throw new IllegalArgumentException(
          "KeyFile and CertFile must both be present[key: "
              + settings.key()
              + ", cert: "
              + settings.cert()
              + "]");
    }
    PrivateKey key = PemKey.parse(settings.key(), read(settings.key()));
    Certificate[] chain = certificates(settings.cert()).toArray(Certificate[]::new);
    KeyManagerFactory factory =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, NO_PASSWORD);
      store.setKeyEntry("client", key, NO_PASSWORD, chain);
      factory.init(store, NO_PASSWORD);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot use " + settings.cert(), e);
    }
    return factory.getKeyManagers();
  }

  private static TrustManager[] trust(TlsSettings settings) throws GeneralSecurityException {
    if (settings.skipVerify()) {
      return new TrustManager[] {new UnverifiedServer()};
    }
    TrustManagerFactory factory =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    if (settings.cacert().isEmpty()) {
      factory.init((KeyStore) null);
      return factory.getTrustManagers();
    }
    try {
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, NO_PASSWORD);
      int number = 0;
      for (Certificate certificate : certificates(settings.cacert())) {
        store.setCertificateEntry("ca-" + number++, certificate);
      }
      factory.init(store);
    } catch (IOException e) {
      throw new IllegalArgumentException("cannot use " + settings.cacert(), e);
    }
    return factory.getTrustManagers();
  }

  /**
   * The certificates of a PEM file, at least one.
   *
   * @throws IllegalArgumentException if it has none
   */
  public static Collection<? extends Certificate> certificates(String file) {
    try {
      Collection<? extends Certificate> found =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(read(file)));
      if (found.isEmpty()) {
        throw new IllegalArgumentException(file + ": no PEM certificate in the file");
      }
      return found;
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(file + ": not a PEM certificate: " + e.getMessage(), e);
    }
  }

  private static byte[] read(String file) {
    try {
      return Files.readAllBytes(Path.of(file));
    } catch (IOException e) {
      boolean missing = e instanceof java.nio.file.NoSuchFileException;
      throw new IllegalArgumentException(
          "open " + file + ": " + (missing ? "no such file or directory" : e.getMessage()), e);
    }
  }

  /** Accepts every certificate: {@code --insecure-skip-tls-verify}. */
  private static final class UnverifiedServer extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String type) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String type) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
