package io.troupe.ctl.client;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads an unencrypted private key in PEM: PKCS #8, RSA (PKCS #1) or EC (SEC 1). */
final class PemKey {
  private static final Pattern BLOCK =
      Pattern.compile("-----BEGIN ((?:RSA |EC )?PRIVATE KEY)-----([^-]+)-----END \\1-----");
  private static final byte[] RSA_ALGORITHM = {
    0x30, 0x0d, 0x06, 0x09, 0x2a, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xf7, 0x0d, 1, 1, 1, 5, 0
  };
  private static final byte[] EC_ALGORITHM = {
    0x06, 0x07, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 2, 1
  };
  private static final byte[] VERSION = {2, 1, 0};

  private PemKey() {}

  /**
   * @param file for error messages
   */
  static PrivateKey parse(String file, byte[] pem) {
    Matcher block = BLOCK.matcher(new String(pem, StandardCharsets.ISO_8859_1));
    if (!block.find()) {
      throw new IllegalArgumentException(file + ": no unencrypted PEM private key in the file");
    }
    byte[] der = Base64.getMimeDecoder().decode(block.group(2));
    byte[] pkcs8 =
        switch (block.group(1)) {
          case "RSA PRIVATE KEY" -> der(0x30, VERSION, RSA_ALGORITHM, der(0x04, der));
          case "EC PRIVATE KEY" ->
              der(0x30, VERSION, der(0x30, EC_ALGORITHM, curve(file, der)), der(0x04, der));
          default -> der;
        };
    for (String algorithm : List.of("RSA", "EC", "EdDSA")) {
      try {
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
      } catch (GeneralSecurityException e) {
        if (algorithm.equals("EdDSA")) {
          throw new IllegalArgumentException(file + ": not a key of RSA, EC or EdDSA", e);
        }
      }
    }
    throw new IllegalArgumentException(file + ": not a private key");
  }

  /** The object identifier of the curve: the content of the element with tag 0xa0. */
  private static byte[] curve(String file, byte[] sec1) {
    int at = contentStart(sec1, 0);
    while (at + 2 <= sec1.length) {
      int start = contentStart(sec1, at);
      int end = start + contentLength(sec1, at);
      if (end > sec1.length) {
        break;
      }
      if ((sec1[at] & 0xff) == 0xa0) {
        return Arrays.copyOfRange(sec1, start, end);
      }
      at = end;
    }
    throw new IllegalArgumentException(file + ": the EC key names no curve");
  }

  private static int contentStart(byte[] der, int at) {
    int length = at + 1 < der.length ? der[at + 1] & 0xff : 0;
    return at + 2 + (length > 0x80 ? length - 0x80 : 0);
  }

  private static int contentLength(byte[] der, int at) {
    int length = der[at + 1] & 0xff;
    if (length <= 0x80) {
      return length;
    }
    int value = 0;
    for (int i = at + 2; i < contentStart(der, at) && i < der.length; i++) {
      value = (value << 8) | (der[i] & 0xff);
    }
    return value;
  }

  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    int length = content.size();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    if (length < 0x80) {
      out.write(length);
    } else if (length < 0x100) {
      out.write(0x81);
      out.write(length);
    } else {
      out.write(0x82);
      out.write(length >> 8);
      out.write(length);
    }
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }
}
