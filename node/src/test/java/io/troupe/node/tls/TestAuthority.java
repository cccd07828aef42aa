package io.troupe.node.tls;

import java.io.IOException;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.sec.SECObjectIdentifiers;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.cert.X509v2CRLBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.bouncycastle.util.io.pem.PemObject;

/** A test CA that writes certificates and keys as files. */
public final class TestAuthority {
  /** The form of a key in its file. */
  public enum KeyForm {
    RSA_PKCS1,
    RSA_PKCS8,
    EC_SEC1,
    EC_PKCS8
  }

  /** A certificate and its key. */
  public record Issued(Path cert, Path key, X509Certificate certificate) {}

  private final Path directory;
  private final X500Name name;
  private final KeyPair keys;
  private final Path file;
  private long serial = 100;

  public TestAuthority(Path directory, String name)
      throws IOException, GeneralSecurityException, OperatorCreationException {
    this.directory = directory;
    this.name = new X500Name("CN=" + name);
    this.keys = pair("EC");
    this.file = directory.resolve(name + ".pem");
    JcaX509v3CertificateBuilder builder = builder(this.name, keys, 1);
    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
    Files.writeString(file, pem(signed(builder)));
  }

  /** Its own certificate. */
  public Path file() {
    return file;
  }

  /** Signs a certificate with this common name and these hosts. */
  public Issued issue(String fileName, String commonName, KeyForm form, String... hosts)
      throws IOException, GeneralSecurityException, OperatorCreationException {
    KeyPair own = pair(form.name().startsWith("RSA") ? "RSA" : "EC");
    X500Name subject =
        new X500Name(commonName.isEmpty() ? "O=test" : "CN=" + commonName + ",O=test");
    JcaX509v3CertificateBuilder builder = builder(subject, own, ++serial);
    if (hosts.length > 0) {
      GeneralName[] names =
          List.of(hosts).stream()
              .map(
                  h ->
                      new GeneralName(
                          h.matches("[0-9.]+") ? GeneralName.iPAddress : GeneralName.dNSName, h))
              .toArray(GeneralName[]::new);
      builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
    }
    return written(fileName, own, builder, form);
  }

  /** Signs a certificate for localhost that expired an hour ago. */
  public Issued expired(String fileName)
      throws IOException, GeneralSecurityException, OperatorCreationException {
    KeyPair own = pair("EC");
    Instant end = Instant.now().minus(Duration.ofHours(1));
    JcaX509v3CertificateBuilder builder =
        new JcaX509v3CertificateBuilder(
            name,
            BigInteger.valueOf(++serial),
            Date.from(end.minus(Duration.ofHours(1))),
            Date.from(end),
            new X500Name("CN=" + fileName),
            own.getPublic());
    return written(fileName, own, builder, KeyForm.EC_PKCS8);
  }

  /** Signs a certificate whose alternative names are malformed. */
  public Issued malformedNames(String fileName)
      throws IOException, GeneralSecurityException, OperatorCreationException {
    KeyPair own = pair("EC");
    JcaX509v3CertificateBuilder builder = builder(new X500Name("CN=" + fileName), own, ++serial);
    builder.addExtension(Extension.subjectAlternativeName, false, new byte[] {4, 2, 1, 1});
    return written(fileName, own, builder, KeyForm.EC_PKCS8);
  }

  private Issued written(
      String fileName, KeyPair own, JcaX509v3CertificateBuilder builder, KeyForm form)
      throws IOException, GeneralSecurityException, OperatorCreationException {
    X509Certificate certificate = signed(builder);
    Path cert = directory.resolve(fileName + ".pem");
    Path key = directory.resolve(fileName + "-key.pem");
    Files.writeString(cert, pem(certificate));
    Files.writeString(key, pem(keyObject(own.getPrivate(), form)));
    return new Issued(cert, key, certificate);
  }

  /** A revocation list in DER with these certificates. */
  public Path revoke(String fileName, X509Certificate... revoked)
      throws IOException, OperatorCreationException {
    X509v2CRLBuilder list = new X509v2CRLBuilder(name, Date.from(Instant.now()));
    for (X509Certificate each : revoked) {
      list.addCRLEntry(each.getSerialNumber(), Date.from(Instant.now()), 0);
    }
    Path crl = directory.resolve(fileName);
    Files.write(crl, list.build(signer()).getEncoded());
    return crl;
  }

  private static Object keyObject(PrivateKey key, KeyForm form) throws IOException {
    if (form.name().endsWith("PKCS8")) {
      return new JcaPKCS8Generator(key, null);
    }
    if (key instanceof ECPrivateKey secret) {
      // With the curve in it, as other programs write it.
      return new PemObject(
          "EC PRIVATE KEY",
          new org.bouncycastle.asn1.sec.ECPrivateKey(
                  256, secret.getS(), null, SECObjectIdentifiers.secp256r1)
              .getEncoded());
    }
    return key;
  }

  private static KeyPair pair(String algorithm) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
    generator.initialize(algorithm.equals("RSA") ? 2048 : 256);
    return generator.generateKeyPair();
  }

  private JcaX509v3CertificateBuilder builder(X500Name subject, KeyPair of, long number) {
    Instant now = Instant.now();
    return new JcaX509v3CertificateBuilder(
        name,
        BigInteger.valueOf(number),
        Date.from(now.minus(Duration.ofHours(1))),
        Date.from(now.plus(Duration.ofHours(1))),
        subject,
        of.getPublic());
  }

  private ContentSigner signer() throws OperatorCreationException {
    return new JcaContentSignerBuilder("SHA256withECDSA").build(keys.getPrivate());
  }

  private X509Certificate signed(JcaX509v3CertificateBuilder builder)
      throws GeneralSecurityException, OperatorCreationException {
    return new JcaX509CertificateConverter().getCertificate(builder.build(signer()));
  }

  private static String pem(Object what) throws IOException {
    StringWriter text = new StringWriter();
    try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
      writer.writeObject(what);
    }
    return text.toString();
  }
}
