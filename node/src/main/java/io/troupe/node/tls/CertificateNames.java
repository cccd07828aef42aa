package io.troupe.node.tls;

import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;

/** Names that a certificate is for. */
public final class CertificateNames {
  private static final int DNS = 2;
  private static final int IP = 7;

  private CertificateNames() {}

  /** The common name of its subject; empty if it has none. */
  public static String commonName(X509Certificate certificate) {
    try {
      List<Rdn> parts = new LdapName(certificate.getSubjectX500Principal().getName()).getRdns();
      for (int i = parts.size() - 1; i >= 0; i--) {
        if (parts.get(i).getType().equalsIgnoreCase("CN")) {
          return String.valueOf(parts.get(i).getValue());
        }
      }
      return "";
    } catch (InvalidNameException e) {
      return "";
    }
  }

  /** True if it is for that DNS name or address; {@code *} stands for a whole first label. */
  static boolean isValidFor(X509Certificate certificate, String host) {
    boolean address = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    for (String name : names(certificate, address ? IP : DNS)) {
      if (address ? name.equals(host) : matches(name, host)) {
        return true;
      }
    }
    return false;
  }

  private static List<String> names(X509Certificate certificate, int kind) {
    List<String> found = new ArrayList<>();
    try {
      Collection<List<?>> all = certificate.getSubjectAlternativeNames();
      if (all != null) {
        for (List<?> each : all) {
          if (each.get(0) instanceof Integer type && type == kind) {
            found.add(String.valueOf(each.get(1)));
          }
        }
      }
    } catch (CertificateParsingException e) {
      // Valid for nobody.
      return List.of();
    }
    return found;
  }

  private static boolean matches(String pattern, String host) {
    String name = pattern.toLowerCase(Locale.ROOT);
    String wanted = host.toLowerCase(Locale.ROOT);
    if (!name.startsWith("*.")) {
      return name.equals(wanted);
    }
    int dot = wanted.indexOf('.');
    return dot > 0 && wanted.substring(dot).equals(name.substring(1));
  }
}
