package io.troupe.node.tls;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maps Go's names of cipher suites and versions, which etcd's settings use (TL6), to those of the
 * JDK.
 */
final class CipherNames {
  private static final Logger LOG = LoggerFactory.getLogger(CipherNames.class);

  /** Accepted without effect: the suites of TLS 1.3 are not configurable. */
  private static final Set<String> TLS_1_3 =
      Set.of("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256");

  /** Suites whose names differ between Go and the JDK. */
  private static final Map<String, String> RENAMED =
      Map.of(
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_RSA_WITH_RC4_128_SHA",
          "SSL_RSA_WITH_RC4_128_SHA",
          "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
          "SSL_RSA_WITH_3DES_EDE_CBC_SHA");

  private static final Set<String> SAME =
      Set.of(
          "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
          "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
          "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
          "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
          "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
          "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
          "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
          "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
          "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
          "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
          "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
          "TLS_RSA_WITH_AES_128_GCM_SHA256",
          "TLS_RSA_WITH_AES_256_GCM_SHA384",
          "TLS_RSA_WITH_AES_128_CBC_SHA",
          "TLS_RSA_WITH_AES_256_CBC_SHA",
          "TLS_RSA_WITH_AES_128_CBC_SHA256");

  private CipherNames() {}

  /**
   * Returns the suites to offer, by the JDK's names.
   *
   * @param names Go's names; empty: those of {@code usual} that etcd offers too
   * @param supported suites of the JDK, which has removed some old ones
   * @throws TlsException for an unknown name, or if no suite remains
   */
  static List<String> suites(List<String> names, List<String> usual, Set<String> supported) {
    List<String> wanted = new ArrayList<>();
    for (String name : names) {
      requireKnown(name);
      String jdk = SAME.contains(name) ? name : RENAMED.get(name);
      if (jdk != null) {
        wanted.add(jdk);
      }
    }
    if (wanted.isEmpty()) {
      return usual.stream().filter(CipherNames::isOffered).toList();
    }
    List<String> gone = wanted.stream().filter(name -> !supported.contains(name)).toList();
    wanted.removeAll(gone);
    if (wanted.isEmpty()) {
      throw new TlsException("none of the cipher suites " + names + " is available in this JDK");
    }
    if (!gone.isEmpty()) {
      LOG.warn("ignoring cipher suites that this JDK does not support suites={}", gone);
    }
    wanted.addAll(TLS_1_3.stream().filter(supported::contains).sorted().toList());
    return List.copyOf(wanted);
  }

  /**
   * Returns true for the suites that Go offers by default: those with ephemeral elliptic curve
   * keys.
   */
  private static boolean isOffered(String suite) {
    return TLS_1_3.contains(suite) || (suite.startsWith("TLS_ECDHE_") && SAME.contains(suite));
  }

  /** Throws for an unknown name. */
  static void requireKnown(String name) {
    if (!SAME.contains(name) && !RENAMED.containsKey(name) && !TLS_1_3.contains(name)) {
      throw new TlsException("unexpected TLS cipher suite \"" + name + "\"");
    }
  }

  /**
   * Returns the versions to offer, by the JDK's names.
   *
   * @throws TlsException for other values, or if the range is empty
   */
  static List<String> versions(String min, String max) {
    int from = version(min.isEmpty() ? "TLS1.2" : min);
    int until = version(max.isEmpty() ? "TLS1.3" : max);
    if (from > until) {
      throw new TlsException("min version (" + min + ") is greater than max version (" + max + ")");
    }
    return List.of("TLSv1.2", "TLSv1.3").subList(from, until + 1);
  }

  private static int version(String name) {
    return switch (name) {
      case "TLS1.2" -> 0;
      case "TLS1.3" -> 1;
      default ->
          throw new TlsException(
              "unexpected TLS version \"" + name + "\" (must be one of: TLS1.2, TLS1.3)");
    };
  }
}
