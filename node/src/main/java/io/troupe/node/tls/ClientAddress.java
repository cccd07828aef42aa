package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Whether a certificate may come from where it comes from (TL2): one that is for addresses or names
 * is good from those alone.
 */
public final class ClientAddress {
  private ClientAddress() {}

  /**
   * Asks the resolver for names: to be called on a thread that may wait.
   *
   * @param certificate which was verified before
   * @param remote the other end of its connection
   * @throws CertificateException if it is for somebody else
   */
  public static void check(X509Certificate certificate, InetAddress remote)
      throws CertificateException {
    List<String> addresses = CertificateNames.addresses(certificate);
    List<String> names = CertificateNames.dnsNames(certificate);
    if (addresses.isEmpty() && names.isEmpty()) {
      return;
    }
    if (CertificateNames.isOneOf(remote, addresses) || leadsTo(names, remote)) {
      return;
    }
    String shown = remote.getHostAddress();
    throw new CertificateException(
        names.isEmpty()
            ? "x509: certificate is valid for " + addresses + ", not " + shown
            : "tls: \"" + shown + "\" does not match any of DNSNames " + names);
  }

  private static boolean leadsTo(List<String> names, InetAddress remote) {
    if (names.isEmpty()) {
      return false;
    }
    String reverse = reverse(remote);
    for (String name : names) {
      String wanted = name.toLowerCase(Locale.ROOT);
      boolean fits =
          wanted.startsWith("*.")
              ? reverse.endsWith(wanted.substring(1))
              : reverse.equals(wanted) || isAddressOf(wanted, remote);
      if (fits) {
        return true;
      }
    }
    return false;
  }

  /** Its name; the address as text if it has none, or one that does not lead back to it. */
  private static String reverse(InetAddress remote) {
    try {
      // Anew, because a socket's address may carry the text that somebody used for it.
      String name = InetAddress.getByAddress(remote.getAddress()).getCanonicalHostName();
      String bare = name.endsWith(".") ? name.substring(0, name.length() - 1) : name;
      return bare.toLowerCase(Locale.ROOT);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("an address has four or sixteen bytes", e);
    }
  }

  private static boolean isAddressOf(String name, InetAddress remote) {
    try {
      return Arrays.asList(InetAddress.getAllByName(name)).contains(remote);
    } catch (UnknownHostException unknown) {
      return false;
    }
  }
}
