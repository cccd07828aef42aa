package io.troupe.node.tls;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;

/** Names that a certificate is for. */
public final class CertificateNames {
  private static final int DNS = 2;
  private static final int IP = 7;

  private CertificateNames() {}

  /** Returns the common name of the subject; empty if it has none. */
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

  /**
   * Returns the certificate that the other side of a handshake presented; null if there is none.
   */
  public static @Nullable X509Certificate shown(SSLSession session) {
    try {
      Certificate[] chain = session.getPeerCertificates();
      return chain.length > 0 && chain[0] instanceof X509Certificate first ? first : null;
    } catch (SSLPeerUnverifiedException none) {
      return null;
    }
  }

  /**
   * Returns true if it is valid for that DNS name or address; {@code *} stands for a whole first
   * label.
   */
  public static boolean isValidFor(X509Certificate certificate, String host) {
    InetAddress address = address(host);
    return address == null
        ? dnsNames(certificate).stream().anyMatch(name -> matches(name, host))
        : isOneOf(address, addresses(certificate));
  }

  /** Returns all names and addresses of the certificate; empty if they cannot be read. */
  public static List<String> all(X509Certificate certificate) {
    return Stream.concat(dnsNames(certificate).stream(), addresses(certificate).stream()).toList();
  }

  /** Returns the names of the certificate; empty if they cannot be read. */
  static List<String> dnsNames(X509Certificate certificate) {
    return names(certificate, DNS);
  }

  /** Returns the addresses of the certificate; empty if they cannot be read. */
  static List<String> addresses(X509Certificate certificate) {
    return names(certificate, IP);
  }

  /** Returns true if one of the texts is that address. */
  static boolean isOneOf(InetAddress address, List<String> texts) {
    return texts.stream().anyMatch(text -> address.equals(address(text)));
  }

  /** Returns the address for an IP address; null for a name. */
  private static @Nullable InetAddress address(String text) {
    if (text.indexOf(':') < 0 && !text.matches("[0-9.]+")) {
      return null;
    }
    try {
      // Does not use the resolver for an IP address.
      return InetAddress.getByName(text);
    } catch (UnknownHostException malformed) {
      return null;
    }
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
      // Valid for no host.
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
