package io.troupe.server.auth;

import io.troupe.model.GoDuration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The options of {@code auth-token = "jwt,..."} (A6).
 *
 * @param method name of the signature method
 * @param privateKey file of the signing key; null if this member only verifies tokens
 * @param publicKey file of the verification key; null if it is derived from the private key
 * @param ttl lifetime of a token; with zero or less, tokens are expired when they are issued, as in
 *     etcd
 */
record JwtSettings(
    String method, @Nullable Path privateKey, @Nullable Path publicKey, Duration ttl) {
  static final String INVALID_OPTIONS = "auth: invalid auth options";
  static final String INVALID_METHOD = "auth: invalid auth signature method";
  static final String MISSING_KEY = "auth: missing key data";

  private static final Logger LOG = LoggerFactory.getLogger(JwtSettings.class);
  private static final Set<String> METHODS =
      Set.of(
          "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256",
          "HS384", "HS512", "EdDSA");
  private static final Duration DEFAULT_TTL = Duration.ofMinutes(5);

  /**
   * Parses the options. Logs and skips unknown options.
   *
   * @param options the text after "jwt", with the comma before each option
   */
  static JwtSettings parse(String options) {
    Map<String, String> given = new HashMap<>();
    for (String option : options.isEmpty() ? new String[0] : options.substring(1).split(",", -1)) {
      int equals = option.indexOf('=');
      if (equals <= 0
          || given.put(option.substring(0, equals).trim(), option.substring(equals + 1).trim())
              != null) {
        throw new IllegalArgumentException(INVALID_OPTIONS);
      }
    }
    given.values().removeIf(String::isEmpty);
    String method = given.remove("sign-method");
    String privateKey = given.remove("priv-key");
    String publicKey = given.remove("pub-key");
    String ttl = given.remove("ttl");
    new TreeMap<>(given)
        .forEach((key, value) -> LOG.warn("ignoring unknown auth-token option {}={}", key, value));
    if (method == null || !METHODS.contains(method)) {
      throw new IllegalArgumentException(INVALID_METHOD);
    }
    if (privateKey == null && publicKey == null) {
      throw new IllegalArgumentException(MISSING_KEY);
    }
    return new JwtSettings(
        method,
        privateKey == null ? null : Path.of(privateKey),
        publicKey == null ? null : Path.of(publicKey),
        ttl == null ? DEFAULT_TTL : duration(ttl));
  }

  private static Duration duration(String text) {
    try {
      return GoDuration.parse(text);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(INVALID_OPTIONS, wrong);
    }
  }
}
