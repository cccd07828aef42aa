package io.troupe.node.tls;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/** Loads certificates and keys of PEM files for the JDK's TLS. */
final class KeyFiles {
  private static final char[] IN_MEMORY = {};

  private KeyFiles() {}

  /**
   * Loads the member's own certificate.
   *
   * @param cert file of the certificate, followed by the intermediate CAs
   * @throws TlsException if a file cannot be used, or the key is not that of the certificate
   */
  static KeyManager[] own(Path cert, Path key) throws GeneralSecurityException, IOException {
    List<X509Certificate> chain = PemFiles.certificates(cert);
    PrivateKey secret = PemFiles.privateKey(key);
    requirePair(chain.get(0), secret, cert, key);
    KeyStore store = emptyStore();
    store.setKeyEntry("own", secret, IN_MEMORY, chain.toArray(new X509Certificate[0]));
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, IN_MEMORY);
    return keys.getKeyManagers();
  }

  /**
   * Trusts certificates that one of these authorities signed.
   *
   * @param authorities file of the CAs; empty: the CAs that the JDK trusts
   * @throws TlsException if the file cannot be used
   */
  static X509ExtendedTrustManager signedBy(String authorities)
      throws GeneralSecurityException, IOException {
    KeyStore store = null;
    if (!authorities.isEmpty()) {
      store = emptyStore();
      int number = 0;
      for (X509Certificate ca : PemFiles.certificates(Path.of(authorities))) {
        store.setCertificateEntry("ca-" + number++, ca);
      }
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    // Null: the CAs that the JDK trusts.
    factory.init(store);
    for (TrustManager each : factory.getTrustManagers()) {
      if (each instanceof X509ExtendedTrustManager found) {
        return found;
      }
    }
    throw new GeneralSecurityException("this JDK has no trust manager for X.509");
  }

  private static KeyStore emptyStore() throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, IN_MEMORY);
    return store;
  }

  /**
   * Checks that key and certificate match: while files are being replaced, one may be new and the
   * other old.
   */
  private static void requirePair(
      X509Certificate certificate, PrivateKey secret, Path cert, Path key)
      throws GeneralSecurityException {
    String algorithm =
        switch (secret.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          case "EdDSA", "Ed25519" -> "EdDSA";
          default ->
              throw new TlsException(
                  "the key in " + key + " is " + secret.getAlgorithm() + ": expected RSA or EC");
        };
    boolean pair = false;
    if (certificate.getPublicKey().getAlgorithm().equals(secret.getAlgorithm())) {
      byte[] text = {1, 2, 3};
      Signature signing = Signature.getInstance(algorithm);
      signing.initSign(secret);
      signing.update(text);
      Signature verifying = Signature.getInstance(algorithm);
      verifying.initVerify(certificate.getPublicKey());
      verifying.update(text);
      pair = verifying.verify(signing.sign());
    }
    if (!pair) {
      throw new TlsException("the key in " + key + " is not that of the certificate in " + cert);
    }
  }
}
