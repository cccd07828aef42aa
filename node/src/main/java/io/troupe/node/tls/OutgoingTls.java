package io.troupe.node.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/** TLS of connections to servers outside this cluster. */
public final class OutgoingTls {
  static {
    Renegotiation.refuse();
  }

  private OutgoingTls() {}

  /**
   * Returns a context for such connections. Empty texts mean "not set".
   *
   * @param cert client certificate, followed by the intermediate CAs; PEM
   * @param key its key; PEM
   * @param authorities trusted CAs; PEM; empty: the CAs that the JDK trusts
   * @param trustAnyCertificate true: the server's certificate and its names are not checked
   * @throws TlsException if a file cannot be used
   */
  public static SSLContext context(
      String cert, String key, String authorities, boolean trustAnyCertificate) {
    try {
      KeyManager[] keys =
          cert.isEmpty() ? new KeyManager[0] : KeyFiles.own(Path.of(cert), Path.of(key));
      TrustManager trust =
          trustAnyCertificate ? new TrustAllManager() : KeyFiles.signedBy(authorities);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keys, new TrustManager[] {trust}, null);
      return context;
    } catch (GeneralSecurityException | IOException e) {
      throw new TlsException(
          "cannot use \"" + cert + "\", \"" + key + "\" and \"" + authorities + "\": " + e, e);
    }
  }
}
