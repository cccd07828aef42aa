package io.troupe.server.auth;

import io.troupe.model.Bytes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.cert.CertificateFactory;
import java.security.interfaces.RSAPrivateCrtKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.RSAPublicKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Base64;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jose4j.keys.HmacKey;
import org.jspecify.annotations.Nullable;

/**
 * Signing and verification keys of JWTs, read from files. A key pair is in PEM: private keys as
 * PKCS #8, PKCS #1 or SEC 1, public keys as SubjectPublicKeyInfo or certificate. The secret of an
 * HS method is the content of the file.
 *
 * @param signing null if this member only verifies tokens
 */
record JwtKeys(@Nullable Key signing, Key verifying) {
  private static final Pattern PEM =
      Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]+)-----END \\1-----");

  /** Object identifiers in DER. */
  private static final byte[] RSA = {0x06, 0x09, 42, -122, 72, -122, -9, 13, 1, 1, 1};

  private static final byte[] EC = {0x06, 0x07, 42, -122, 72, -50, 61, 2, 1};
  private static final byte[] P256 = {0x06, 0x08, 42, -122, 72, -50, 61, 3, 1, 7};
  private static final byte[] P384 = {0x06, 0x05, 43, -127, 4, 0, 34};
  private static final byte[] P521 = {0x06, 0x05, 43, -127, 4, 0, 35};
  private static final byte[] NULL = {0x05, 0x00};
  private static final byte[] ZERO = {0x02, 0x01, 0x00};

  private record Block(String label, Bytes content) {
    byte[] der() {
      return content.toArray();
    }
  }

  /**
   * Reads the key files.
   *
   * @throws IllegalArgumentException if a file cannot be read or does not contain a key of the
   *     method
   */
  static JwtKeys load(JwtSettings settings) {
    Path privateFile = settings.privateKey();
    Path publicFile = settings.publicKey();
    try {
      if (settings.method().startsWith("HS")) {
        if (privateFile == null) {
          throw new IllegalArgumentException(JwtSettings.MISSING_KEY);
        }
        HmacKey secret = new HmacKey(Files.readAllBytes(privateFile));
        return new JwtKeys(secret, secret);
      }
      PrivateKey signing = privateFile == null ? null : privateKey(settings.method(), privateFile);
      if (publicFile != null) {
        return new JwtKeys(signing, publicKey(settings.method(), publicFile));
      }
      if (signing instanceof RSAPrivateCrtKey rsa) {
        return new JwtKeys(
            signing,
            KeyFactory.getInstance("RSA")
                .generatePublic(new RSAPublicKeySpec(rsa.getModulus(), rsa.getPublicExponent())));
      }
      // The JDK does not derive the public key of other kinds.
      throw new IllegalArgumentException(
          JwtSettings.MISSING_KEY + ": " + settings.method() + " needs pub-key too");
    } catch (IOException | GeneralSecurityException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException("auth: a key cannot be read: " + e, e);
    }
  }

  private static String algorithm(String method) {
    return switch (method.charAt(0)) {
      case 'R', 'P' -> "RSA";
      case 'E' -> method.equals("EdDSA") ? "Ed25519" : "EC";
      default -> throw new IllegalArgumentException(JwtSettings.INVALID_METHOD);
    };
  }

  private static PrivateKey privateKey(String method, Path file)
      throws IOException, GeneralSecurityException {
    Block block = pem(file);
    byte[] pkcs8 =
        switch (block.label()) {
          case "PRIVATE KEY" -> block.der();
          case "RSA PRIVATE KEY" -> pkcs8(block.der(), RSA, NULL);
          case "EC PRIVATE KEY" -> pkcs8(block.der(), EC, curve(method));
          default -> throw new IllegalArgumentException(file + " holds a " + block.label());
        };
    return KeyFactory.getInstance(algorithm(method))
        .generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
  }

  private static PublicKey publicKey(String method, Path file)
      throws IOException, GeneralSecurityException {
    Block block = pem(file);
    return switch (block.label()) {
      case "PUBLIC KEY" ->
          KeyFactory.getInstance(algorithm(method))
              .generatePublic(new X509EncodedKeySpec(block.der()));
      case "CERTIFICATE" ->
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(block.der()))
              .getPublicKey();
      default -> throw new IllegalArgumentException(file + " holds a " + block.label());
    };
  }

  /**
   * Returns the first key or certificate; openssl writes the parameters of a curve before its key.
   */
  private static Block pem(Path file) throws IOException {
    Matcher blocks = PEM.matcher(Files.readString(file, StandardCharsets.US_ASCII));
    while (blocks.find()) {
      if (!blocks.group(1).equals("EC PARAMETERS")) {
        return new Block(
            blocks.group(1), Bytes.wrap(Base64.getMimeDecoder().decode(blocks.group(2))));
      }
    }
    throw new IllegalArgumentException(file + " holds no key in PEM");
  }

  private static byte[] curve(String method) {
    return switch (method) {
      case "ES256" -> P256;
      case "ES384" -> P384;
      default -> P521;
    };
  }

  /** Wraps a key in the PKCS #8 structure that names its algorithm (RFC 5208). */
  private static byte[] pkcs8(byte[] key, byte[] algorithm, byte[] parameters) {
    return der(0x30, ZERO, der(0x30, algorithm, parameters), der(0x04, key));
  }

  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length < 0x80) {
      out.write(length);
    } else if (length < 0x100) {
      out.write(0x81);
      out.write(length);
    } else {
      out.write(0x82);
      out.write(length >>> 8);
      out.write(length);
    }
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }
}
