package io.troupe.node.tls;

import java.util.List;
import java.util.Optional;

/**
 * TLS of one kind of port, for clients or for peers. Empty texts and lists mean "not set".
 *
 * @param certFile own certificate, followed by the intermediate CAs; PEM
 * @param keyFile its key: PKCS#1, PKCS#8 or SEC1, not encrypted; PEM
 * @param clientCertFile certificate for outgoing connections; empty: certFile
 * @param clientKeyFile its key; empty: keyFile
 * @param trustedCaFile CAs of the other side's certificate; PEM
 * @param clientCertAuth clients must present a certificate; also required if trustedCaFile is set
 * @param crlFile CRL of revoked certificates; DER
 * @param allowedCns common names, one of which the certificate must have
 * @param allowedHostnames names, for one of which the certificate must be valid
 * @param cipherSuites by Go's names, TLS 1.2 only; empty: the JDK's
 * @param minVersion TLS1.2 or TLS1.3; empty: TLS1.2
 * @param maxVersion TLS1.2 or TLS1.3; empty: the highest supported version
 * @param trustAnyCertificate true: a server's certificate is not verified (auto-TLS between peers)
 * @param checksAddress true: a certificate with names or addresses must be valid for the address
 *     that it comes from (TL2); for peer ports and metrics ports
 * @param bindsMembers true: a certificate is only accepted for members with a peer URL that it is
 *     valid for; for peer ports
 * @param selfSigned the certificate to generate before files are read, which is then certFile
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
    boolean trustAnyCertificate,
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
   * Checks the settings that need no files (F7, TL6).
   *
   * @throws TlsException for unknown names and contradictory values
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
