package io.troupe.node.tls;

import java.util.List;
import java.util.Optional;

/**
 * TLS of one kind of port, for clients or for peers. Empty texts and lists mean "not set".
 *
 * @param certFile own certificate first, then those that lead to the CA; PEM
 * @param keyFile its key: PKCS#1, PKCS#8 or SEC1, not encrypted; PEM
 * @param clientCertFile shown where this member is the client; empty: certFile
 * @param clientKeyFile its key; empty: keyFile
 * @param trustedCaFile who may sign the other side's certificate; PEM
 * @param clientCertAuth clients must show a certificate; so too if trustedCaFile is set
 * @param crlFile certificates that are void; DER
 * @param allowedCns common names, one of which the certificate must have
 * @param allowedHostnames names, for one of which the certificate must be valid
 * @param cipherSuites by Go's names, TLS 1.2 only; empty: the JDK's
 * @param minVersion TLS1.2 or TLS1.3; empty: TLS1.2
 * @param maxVersion the same; empty: the highest there is
 * @param trustAnybody a server's certificate is not verified (auto-TLS between peers)
 * @param checksAddress whether a certificate with names or addresses must be for the address that
 *     it comes from (TL2); on ports of peers, and on those for metrics
 * @param bindsMembers whether a certificate may only speak for members with a peer URL that it is
 *     for; on ports of peers
 * @param selfSigned the certificate to make before anything is read, which is certFile then
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
    boolean trustAnybody,
    boolean checksAddress,
    boolean bindsMembers,
    Optional<SelfSigned.Order> selfSigned) {

  /** Copies the lists. */
  public TlsSettings {
    allowedCns = List.copyOf(allowedCns);
    allowedHostnames = List.copyOf(allowedHostnames);
    cipherSuites = List.copyOf(cipherSuites);
  }

  /**
   * Checks what needs no files (F7, TL6).
   *
   * @throws TlsException for unknown names, and for what does not go together
   */
  public static void checkProtocol(List<String> cipherSuites, String min, String max) {
    CipherNames.versions(min, max);
    cipherSuites.forEach(CipherNames::requireKnown);
    if (min.equals("TLS1.3") && !cipherSuites.isEmpty()) {
      throw new TlsException("cipher suites cannot be configured when only TLS1.3 is enabled");
    }
  }

  /** TL2. */
  boolean wantsCertificate() {
    return clientCertAuth || !trustedCaFile.isEmpty();
  }
}
