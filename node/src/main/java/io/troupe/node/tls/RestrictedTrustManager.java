package io.troupe.node.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Checks certificates beyond the CA's signature: revoked certificates, and allowed names (TL3,
 * TL4).
 */
final class RestrictedTrustManager extends X509ExtendedTrustManager {
  private final X509ExtendedTrustManager authorities;
  private final RevokedSerials revoked;
  private final List<String> allowedCns;
  private final List<String> allowedHostnames;

  RestrictedTrustManager(
      X509ExtendedTrustManager authorities, RevokedSerials revoked, TlsSettings settings) {
    this.authorities = authorities;
    this.revoked = revoked;
    this.allowedCns = settings.allowedCns();
    this.allowedHostnames = settings.allowedHostnames();
  }

  private void check(X509Certificate[] chain) throws CertificateException {
    revoked.check(chain);
    X509Certificate own = chain[0];
    boolean allowed =
        allowedCns.isEmpty()
            ? allowedHostnames.isEmpty()
                || allowedHostnames.stream().anyMatch(h -> CertificateNames.isValidFor(own, h))
            : allowedCns.contains(CertificateNames.commonName(own));
    if (!allowed) {
      throw new CertificateException("client certificate authentication failed");
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    authorities.checkClientTrusted(chain, authType, engine);
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    authorities.checkClientTrusted(chain, authType, socket);
    check(chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    authorities.checkClientTrusted(chain, authType);
    check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    authorities.checkServerTrusted(chain, authType, engine);
    revoked.check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    authorities.checkServerTrusted(chain, authType, socket);
    revoked.check(chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    authorities.checkServerTrusted(chain, authType);
    revoked.check(chain);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return authorities.getAcceptedIssuers();
  }
}
