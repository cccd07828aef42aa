package io.troupe.server.auth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import io.troupe.auth.AuthState;
import io.troupe.grpc.error.GrpcException;
import io.troupe.model.Requester;
import io.troupe.testing.LoggedLines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import javax.crypto.spec.SecretKeySpec;
import org.jose4j.jws.JsonWebSignature;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JwtTokensTest {
  private static final AuthState STATE = new AuthState(true, 9, List.of(), List.of());
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  @TempDir Path directory = Path.of("");

  private static Tokens tokens(String setting, Instant now) {
    return Tokens.of(setting, Duration.ofSeconds(1), 1000, Clock.fixed(now, ZoneOffset.UTC));
  }

  private static JwtTokens jwt(String setting) {
    return (JwtTokens) tokens(setting, START);
  }

  private Path pem(String name, String label, byte[] der) throws IOException {
    return Files.writeString(
        directory.resolve(name),
        "-----BEGIN "
            + label
            + "-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der)
            + "\n-----END "
            + label
            + "-----\n");
  }

  private KeyPair pair(String algorithm, String detail) throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
    if (algorithm.equals("EC")) {
      generator.initialize(new ECGenParameterSpec(detail));
    } else if (algorithm.equals("RSA")) {
      generator.initialize(Integer.parseInt(detail));
    }
    return generator.generateKeyPair();
  }

  /** Writes the files of a key pair: private key, public key. */
  private String options(String method, KeyPair pair) throws IOException {
    return "jwt,sign-method="
        + method
        + ",priv-key="
        + pem(method + ".key", "PRIVATE KEY", pair.getPrivate().getEncoded())
        + ",pub-key="
        + pem(method + ".pub", "PUBLIC KEY", pair.getPublic().getEncoded());
  }

  @ParameterizedTest
  @CsvSource({
    "RS256, RSA, 2048",
    "RS384, RSA, 2048",
    "RS512, RSA, 2048",
    "PS256, RSA, 2048",
    "PS384, RSA, 2048",
    "PS512, RSA, 2048",
    "ES256, EC, secp256r1",
    "ES384, EC, secp384r1",
    "ES512, EC, secp521r1",
    "EdDSA, Ed25519, -"
  })
  void everyMethodSignsAndVerifies_A6(String method, String algorithm, String detail)
      throws Exception {
    String options = options(method, pair(algorithm, detail));
    String token = jwt(options).sign("n\u00e4me", 7);
    assertThat(tokens(options, START).find(token, STATE))
        .isEqualTo(new Requester.User("n\u00e4me", 7));
    // Another key does not verify, and a mismatched key pair is rejected.
    KeyPair other = pair(algorithm, detail);
    assertThat(jwt(options(method, other)).find(token, STATE)).isNull();
    String mixed =
        "jwt,sign-method="
            + method
            + ",priv-key="
            + pem("mixed.key", "PRIVATE KEY", pair(algorithm, detail).getPrivate().getEncoded())
            + ",pub-key="
            + pem("mixed.pub", "PUBLIC KEY", other.getPublic().getEncoded());
    assertThatThrownBy(() -> jwt(mixed)).hasMessage("auth: public and private keys don't match");
  }

  @ParameterizedTest
  @CsvSource({"HS256", "HS384", "HS512"})
  void sharedSecretSignsAndVerifies_A6(String method) throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    String options = "jwt,sign-method=" + method + ",priv-key=" + secret;
    assertThat(jwt(options).find(jwt(options).sign("u", 7), STATE))
        .isEqualTo(new Requester.User("u", 7));
  }

  @Test
  void tokensExpireAfterTtl_A6() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    String options = "jwt,sign-method=HS256,priv-key=" + secret;
    String token = jwt(options).sign("u", 7);
    assertThat(tokens(options, START.plusSeconds(299)).find(token, STATE)).isNotNull();
    assertThat(tokens(options, START.plusSeconds(301)).find(token, STATE)).isNull();
    String longer = jwt(options + ",ttl=1h1m1s").sign("u", 7);
    assertThat(tokens(options, START.plusSeconds(3660)).find(longer, STATE)).isNotNull();
    assertThat(tokens(options, START.plusSeconds(3662)).find(longer, STATE)).isNull();
  }

  @ParameterizedTest
  @CsvSource({"1.5h, 5400", "1500000us, 1", "2s999999999ns, 2", "'', 300"})
  void ttlAcceptsGoDurations_A6(String ttl, long seconds) throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    String options = "jwt,sign-method=HS256,priv-key=" + secret + ",ttl=" + ttl;
    String token = jwt(options).sign("u", 7);
    assertThat(tokens(options, START.plusSeconds(seconds - 1)).find(token, STATE)).isNotNull();
    assertThat(tokens(options, START.plusSeconds(seconds)).find(token, STATE)).isNull();
  }

  @Test
  void zeroTtlIssuesExpiredTokens_A6() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    JwtTokens none = jwt("jwt,sign-method=HS256,ttl=0,priv-key=" + secret);
    assertThat(none.find(none.sign("u", 7), STATE)).isNull();
  }

  @Test
  void tokenWithoutExpirationNeverExpires_A6() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    String options = "jwt,sign-method=HS256,priv-key=" + secret;
    JsonWebSignature signature = new JsonWebSignature();
    signature.setPayload("{\"username\":\"u\",\"revision\":7}");
    signature.setAlgorithmHeaderValue("HS256");
    signature.setKey(new SecretKeySpec("short".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
    signature.setDoKeyValidation(false);
    String token = signature.getCompactSerialization();
    assertThat(tokens(options, START.plus(Duration.ofDays(40_000))).find(token, STATE))
        .isEqualTo(new Requester.User("u", 7));
  }

  @Test
  void unknownOptionIsLoggedAndIgnored_A6() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    try (LoggedLines log = new LoggedLines(JwtSettings.class, Level.WARN)) {
      JwtTokens tokens = jwt("jwt,sign-method=HS256,color=red,priv-key=" + secret);
      assertThat(tokens.find(tokens.sign("u", 7), STATE)).isNotNull();
      assertThat(log.lines())
          .extracting(line -> line.getFormattedMessage())
          .containsExactly("ignoring unknown auth-token option color=red");
    }
  }

  @Test
  void otherMethodOrMissingSignatureIsInvalid_A6() throws Exception {
    Path secret = Files.writeString(directory.resolve("secret"), "short");
    String token = jwt("jwt,sign-method=HS256,priv-key=" + secret).sign("u", 7);
    JwtTokens other = jwt("jwt,sign-method=HS512,priv-key=" + secret);
    assertThat(other.find(token, STATE)).isNull();
    String none =
        base64("{\"alg\":\"none\"}")
            + "."
            + base64("{\"username\":\"u\",\"revision\":7,\"exp\":4102444800}")
            + ".";
    assertThat(other.find(none, STATE)).isNull();
    assertThat(other.find("rubbish", STATE)).isNull();
    assertThat(other.find("", STATE)).isNull();
  }

  private static String base64(String text) {
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void publicKeyAloneOnlyVerifies_A6() throws Exception {
    KeyPair pair = pair("RSA", "2048");
    String both = options("RS256", pair);
    JwtTokens checking = jwt("jwt,sign-method=RS256,pub-key=" + directory.resolve("RS256.pub"));
    assertThat(checking.find(jwt(both).sign("u", 7), STATE)).isNotNull();
    assertThatThrownBy(() -> checking.sign("u", 7))
        .isInstanceOf(GrpcException.class)
        .hasMessageContaining("auth: token signing attempted with verify-only key");
  }

  /** The output of openssl: PKCS #1 and SEC 1 are parts of PKCS #8. */
  @Test
  void readsPkcs1AndSec1Keys() throws Exception {
    KeyPair rsa = pair("RSA", "2048");
    byte[] pkcs8 = rsa.getPrivate().getEncoded();
    Path pkcs1 = pem("rsa1", "RSA PRIVATE KEY", Arrays.copyOfRange(pkcs8, 26, pkcs8.length));
    JwtTokens tokens = jwt("jwt,sign-method=RS256,priv-key=" + pkcs1);
    assertThat(tokens.find(tokens.sign("u", 7), STATE)).isNotNull();
    KeyPair ec = pair("EC", "secp256r1");
    byte[] wrapped = ec.getPrivate().getEncoded();
    byte[] inner = Arrays.copyOfRange(wrapped, 28, wrapped.length);
    Path sec1 = pem("ec1", "EC PRIVATE KEY", inner);
    Path spki = pem("ec1.pub", "PUBLIC KEY", ec.getPublic().getEncoded());
    JwtTokens curve = jwt("jwt,sign-method=ES256,priv-key=" + sec1 + ",pub-key=" + spki);
    assertThat(curve.find(curve.sign("u", 7), STATE)).isNotNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "bearer | auth: invalid auth options",
        "jwt | auth: invalid auth signature method",
        "jwt,sign-method=XX256,priv-key=x | auth: invalid auth signature method",
        "jwt,sign-method=none,priv-key=x | auth: invalid auth signature method",
        "jwt,sign-method=RS256 | auth: missing key data",
        "jwt,sign-method=RS256,priv-key=x,ttl=5 | auth: invalid auth options",
        "jwt,sign-method=RS256,priv-key=x,ttl=m5 | auth: invalid auth options",
        "jwt,sign-method=RS256,color,priv-key=x | auth: invalid auth options",
        "jwt,sign-method=RS256,sign-method=RS256,priv-key=x | auth: invalid auth options",
        "jwt,sign-method=RS256,priv-key=/nowhere | auth: a key cannot be read"
      })
  void invalidSettingsAreRejectedWithReason(String setting, String text) {
    assertThatThrownBy(() -> tokens(setting, START))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(text);
  }

  @Test
  void emptySettingAcceptsNoTokens_A6() {
    assertThat(tokens("", START).find("x", STATE)).isNull();
  }
}
