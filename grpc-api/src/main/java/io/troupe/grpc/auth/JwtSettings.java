package io.troupe.grpc.auth;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The options of {@code auth-token = "jwt,..."} (A6).
 *
 * @param method name of the signature method
 * @param privateKey file to sign with; null: tokens of others are checked only
 * @param publicKey file to check with; null when the private one says it
 * @param ttl from a login on
 */
record JwtSettings(
    String method, @Nullable Path privateKey, @Nullable Path publicKey, Duration ttl) {
  static final String INVALID_OPTIONS = "auth: invalid auth options";
  static final String INVALID_METHOD = "auth: invalid auth signature method";
  static final String MISSING_KEY = "auth: missing key data";

  private static final Set<String> METHODS =
      Set.of(
          "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "HS256",
          "HS384", "HS512", "EdDSA");
  private static final Duration DEFAULT_TTL = Duration.ofMinutes(5);
  private static final Pattern DURATION_PART = Pattern.compile("(\\d+)(ms|h|m|s)");

  /**
   * Reads them.
   *
   * @param options what stands behind "jwt", with the comma before each option
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
    String method = given.remove("sign-method");
    String privateKey = given.remove("priv-key");
    String publicKey = given.remove("pub-key");
    String ttl = given.remove("ttl");
    if (!given.isEmpty()) {
      throw new IllegalArgumentException(INVALID_OPTIONS);
    }
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

  /** Such as 10m, 1h30m, 300s. */
  private static Duration duration(String text) {
    Matcher parts = DURATION_PART.matcher(text);
    Duration sum = Duration.ZERO;
    int at = 0;
    while (parts.find() && parts.start() == at) {
      long amount = Long.parseLong(parts.group(1));
      sum =
          sum.plus(
              switch (parts.group(2)) {
                case "h" -> Duration.ofHours(amount);
                case "m" -> Duration.ofMinutes(amount);
                case "s" -> Duration.ofSeconds(amount);
                default -> Duration.ofMillis(amount);
              });
      at = parts.end();
    }
    if (at != text.length() || sum.isZero()) {
      throw new IllegalArgumentException(INVALID_OPTIONS);
    }
    return sum;
  }
}
