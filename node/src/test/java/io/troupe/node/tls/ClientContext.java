package io.troupe.node.tls;

import io.troupe.node.tls.TestAuthority.Issued;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** TLS contexts of a JDK client. */
public final class ClientContext {
  private static final char[] IN_MEMORY = {};

  private ClientContext() {}

  /**
   * Trusts one CA.
   *
   * @param own null: it shows no certificate
   */
  public static SSLContext of(Path ca, @Nullable Issued own)
      throws GeneralSecurityException, IOException {
    KeyStore trusted = empty();
    trusted.setCertificateEntry("ca", PemFiles.certificates(ca).get(0));
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(trusted);
    KeyStore keys = empty();
    if (own != null) {
      keys.setKeyEntry(
          "own",
          PemFiles.privateKey(own.key()),
          IN_MEMORY,
          new X509Certificate[] {own.certificate()});
    }
    KeyManagerFactory manager = KeyManagerFactory.getInstance("PKIX");
    manager.init(keys, IN_MEMORY);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(manager.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  private static KeyStore empty() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, IN_MEMORY);
    return store;
  }
}
