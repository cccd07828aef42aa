package io.troupe.node.tls;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.cert.CRL;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509CRLEntry;
import java.security.cert.X509Certificate;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serial numbers of revoked certificates (TL4). */
final class RevokedSerials {
  private static final Logger LOG = LoggerFactory.getLogger(RevokedSerials.class);

  private final Set<BigInteger> serials;
  private final boolean readable;

  private RevokedSerials(Set<BigInteger> serials, boolean readable) {
    this.serials = Set.copyOf(serials);
    this.readable = readable;
  }

  /** Returns an empty list. */
  static RevokedSerials none() {
    return new RevokedSerials(Set.of(), true);
  }

  /**
   * Reads a CRL in DER. If that fails, every certificate counts as revoked, and the reason is
   * logged.
   */
  static RevokedSerials of(Path file) {
    try (InputStream in = Files.newInputStream(file)) {
      CRL list = CertificateFactory.getInstance("X.509").generateCRL(in);
      Set<BigInteger> serials = new HashSet<>();
      Set<? extends X509CRLEntry> entries =
          list instanceof X509CRL revoked ? revoked.getRevokedCertificates() : null;
      if (entries != null) {
        entries.forEach(entry -> serials.add(entry.getSerialNumber()));
      }
      return new RevokedSerials(serials, true);
    } catch (IOException | GeneralSecurityException e) {
      LOG.error("rejecting all certificates, cannot read the list of revoked certificates", e);
      return new RevokedSerials(Set.of(), false);
    }
  }

  /** Throws if one of these certificates is revoked. */
  void check(X509Certificate[] presented) throws CertificateException {
    if (!readable) {
      throw new CertificateException("cannot read the list of revoked certificates");
    }
    for (X509Certificate each : presented) {
      if (serials.contains(each.getSerialNumber())) {
        throw new CertificateException(
            "certificate is revoked serial=" + each.getSerialNumber().toString(16));
      }
    }
  }
}
