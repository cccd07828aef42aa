package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The subject alternative names of a certificate, and the check of its remote address (TL2): a
 * certificate with addresses or names is only valid from those.
 *
 * @param addresses as text
 * @param dnsNames a first label {@code *} stands for one or more labels
 */
record AlternativeNames(List<String> addresses, List<String> dnsNames) {
  private static final String EXTENSION = "2.5.29.17";

  /** Copies the lists. */
  AlternativeNames {
    addresses = List.copyOf(addresses);
    dnsNames = List.copyOf(dnsNames);
  }

  /**
   * Returns the names of a certificate.
   *
   * @throws CertificateException if they cannot be read, which must not count as no names
   */
  static AlternativeNames of(X509Certificate certificate) throws CertificateException {
    if (certificate.getExtensionValue(EXTENSION) != null
        && certificate.getSubjectAlternativeNames() == null) {
      throw new CertificateException("x509: invalid subject alternative names");
    }
    return new AlternativeNames(
        CertificateNames.addresses(certificate), CertificateNames.dnsNames(certificate));
  }

  /**
   * Returns true if no name must be resolved: the certificate is for that address, or has no names.
   */
  boolean areFor(InetAddress remote) {
    return (addresses.isEmpty() && dnsNames.isEmpty())
        || CertificateNames.isOneOf(remote, addresses);
  }

  /**
   * Checks the remote address. Looks up names only if the certificate has names: first those of the
   * address, then the addresses of each of its names.
   *
   * @param remote address that the certificate comes from
   * @throws CertificateException if it is for another host, in etcd's words
   * @source etcd client/pkg/transport, listener_tls.go
   */
  void check(InetAddress remote, NameLookup lookup) throws CertificateException {
    if (areFor(remote)) {
      return;
    }
    if (dnsNames.isEmpty()) {
      throw new CertificateException(
          "x509: certificate is valid for "
              + String.join(", ", addresses)
              + ", not "
              + remote.getHostAddress());
    }
    String failed = "";
    try {
      if (lookup.names(remote).stream().anyMatch(this::isNamed)) {
        return;
      }
    } catch (UnknownHostException e) {
      failed = e.getMessage();
    }
    for (String name : dnsNames) {
      try {
        if (!isWildcard(name) && lookup.addresses(name).contains(remote)) {
          return;
        }
      } catch (UnknownHostException e) {
        failed = e.getMessage();
      }
    }
    throw new CertificateException(
        "tls: \""
            + remote.getHostAddress()
            + "\" does not match any of DNSNames "
            + dnsNames.stream().collect(Collectors.joining("\" \"", "[\"", "\"]"))
            + (failed == null || failed.isEmpty() ? "" : " (lookup " + failed + ")"));
  }

  private static boolean isWildcard(String name) {
    return name.startsWith("*.");
  }

  private boolean isNamed(String reverse) {
    String name = bare(reverse);
    return dnsNames.stream()
        .anyMatch(
            own ->
                isWildcard(own) ? name.endsWith(bare(own.substring(1))) : name.equals(bare(own)));
  }

  /** Returns the form for comparison: resolvers may end a name with a dot. */
  private static String bare(String name) {
    String small = name.toLowerCase(Locale.ROOT);
    return small.endsWith(".") ? small.substring(0, small.length() - 1) : small;
  }
}
