package io.troupe.node.tls;

import java.util.List;

/**
 * TLS of one kind of port, for clients or for peers. Empty texts and lists mean "not set".
 *
 * @param certFile own certificate first, then those that lead to the CA; PEM
 * @param keyFile its key: PKCS#1, PKCS#8 or SEC1, not encrypted; PEM
 * @param clientCertFile shown where this member is the client; empty: certFile
 * @param clientKeyFile its key; empty: keyFile
 * @param trustedCaFile who may sign the other side's certificate; PEM
 * @param clientCertAuth whoever connects must show a certificate; so too if trustedCaFile is set
 * @param crlFile certificates that are void; DER
 * @param allowedCns common names, one of which the certificate must have
 * @param allowedHostnames names, for one of which the certificate must be valid
 * @param cipherSuites by Go's names, TLS 1.2 only; empty: the JDK's
 * @param minVersion TLS1.2 or TLS1.3; empty: TLS1.2
 * @param maxVersion the same; empty: the highest there is
 * @param trustAnybody a server's certificate is not verified (auto-TLS between peers)
 */
public record TlsSettings(
    String certFile,
    String keyFile,
    String clientCertFile,
    String clientKeyFile,
    String trustedCaFile,
    boolean clientCertAuth,
    String crlFile,
    List<String> allowedCns,
    List<String> allowedHostnames,
    List<String> cipherSuites,
    String minVersion,
    String maxVersion,
    boolean trustAnybody) {

  /** TL2. */
  boolean wantsCertificate() {
    return clientCertAuth || !trustedCaFile.isEmpty();
  }
}
