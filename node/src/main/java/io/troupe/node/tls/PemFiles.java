package io.troupe.node.tls;

import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import org.bouncycastle.asn1.pkcs.PrivateKeyInfo;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.openssl.PEMEncryptedKeyPair;
import org.bouncycastle.openssl.PEMKeyPair;
import org.bouncycastle.openssl.PEMParser;
import org.bouncycastle.openssl.jcajce.JcaPEMKeyConverter;
import org.bouncycastle.pkcs.PKCS8EncryptedPrivateKeyInfo;

/** Reads keys and certificates. */
final class PemFiles {
  private PemFiles() {}

  /**
   * Returns all certificates of a file, in its order; at least one.
   *
   * @throws TlsException if there is none, or one cannot be read
   */
  static List<X509Certificate> certificates(Path file) {
    List<X509Certificate> found = new ArrayList<>();
    try (Reader text = Files.newBufferedReader(file);
        PEMParser parser = new PEMParser(text)) {
      for (Object each = parser.readObject(); each != null; each = parser.readObject()) {
        if (each instanceof X509CertificateHolder holder) {
          found.add(new JcaX509CertificateConverter().getCertificate(holder));
        }
      }
    } catch (IOException | CertificateException | RuntimeException e) {
      throw new TlsException("cannot read certificates of " + file + ": " + e, e);
    }
    if (found.isEmpty()) {
      throw new TlsException("no certificate in " + file + ": expected PEM");
    }
    return found;
  }

  /**
   * Returns the first private key of a file: PKCS#1, PKCS#8 or SEC1; RSA, EC or EdDSA.
   *
   * @throws TlsException if there is none, or it is encrypted or broken
   */
  static PrivateKey privateKey(Path file) {
    JcaPEMKeyConverter converter = new JcaPEMKeyConverter();
    try (Reader text = Files.newBufferedReader(file);
        PEMParser parser = new PEMParser(text)) {
      for (Object each = parser.readObject(); each != null; each = parser.readObject()) {
        if (each instanceof PEMKeyPair pair) {
          return converter.getPrivateKey(pair.getPrivateKeyInfo());
        }
        if (each instanceof PrivateKeyInfo key) {
          return converter.getPrivateKey(key);
        }
        if (each instanceof PEMEncryptedKeyPair || each instanceof PKCS8EncryptedPrivateKeyInfo) {
          throw new TlsException("the key in " + file + " is encrypted: expected a plain one");
        }
      }
    } catch (TlsException encrypted) {
      throw encrypted;
    } catch (IOException | RuntimeException e) {
      throw new TlsException("cannot read the key in " + file + ": " + e, e);
    }
    throw new TlsException("no private key in " + file + ": expected PEM, PKCS#1, PKCS#8 or SEC1");
  }
}
