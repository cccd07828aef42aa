package io.troupe.node.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;

/** TLS of connections to servers that are no members of this cluster. */
public final class OutgoingTls {
  private static final char[] IN_MEMORY = {};

  private OutgoingTls() {}

  /**
   * A context for such connections. Empty texts mean "not set".
   *
   * @param cert own certificate, then those that lead to its CA; PEM
   * @param key its key; PEM
   * @param authorities whom to trust; PEM; empty: whom the JDK trusts
   * @param trustAnybody the server's certificate and its names are not looked at
   * @throws TlsException if a file cannot be used
   */
  public static SSLContext context(
      String cert, String key, String authorities, boolean trustAnybody) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys(cert, key), trust(authorities, trustAnybody), null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new TlsException("cannot use " + cert + " and " + authorities + ": " + e, e);
    }
  }

  /** None if there is no certificate. */
  private static KeyManager[] keys(String cert, String key)
      throws GeneralSecurityException, IOException {
    if (cert.isEmpty()) {
      return new KeyManager[0];
    }
    KeyStore store = emptyStore();
    store.setKeyEntry(
        "own",
        PemFiles.privateKey(Path.of(key)),
        IN_MEMORY,
        PemFiles.certificates(Path.of(cert)).toArray(new X509Certificate[0]));
    KeyManagerFactory factory = KeyManagerFactory.getInstance("PKIX");
    factory.init(store, IN_MEMORY);
    return factory.getKeyManagers();
  }

  private static TrustManager[] trust(String authorities, boolean trustAnybody)
      throws GeneralSecurityException, IOException {
    if (trustAnybody) {
      return new TrustManager[] {new TrustAnybody()};
    }
    // Null: those that the JDK trusts.
    KeyStore store = null;
    if (!authorities.isEmpty()) {
      store = emptyStore();
      int number = 0;
      for (X509Certificate ca : PemFiles.certificates(Path.of(authorities))) {
        store.setCertificateEntry("ca-" + number++, ca);
      }
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(store);
    return factory.getTrustManagers();
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, IN_MEMORY);
    return store;
  }
}
