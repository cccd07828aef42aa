package io.troupe.node.tls;

import java.io.IOException;
import java.io.StringWriter;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;
import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.asn1.x509.KeyUsage;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.openssl.jcajce.JcaPEMWriter;
import org.bouncycastle.openssl.jcajce.JcaPKCS8Generator;
import org.bouncycastle.operator.ContentSigner;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Generates self-signed certificates of a member (TL5). */
public final class SelfSigned {
  private static final Logger LOG = LoggerFactory.getLogger(SelfSigned.class);
  private static final Duration YEAR = Duration.ofDays(365);

  private SelfSigned() {}

  /**
   * The certificate to generate.
   *
   * @param directory directory of {@code cert.pem} and {@code key.pem}
   * @param hosts names and addresses of the certificate
   * @param years validity, 1 or more
   */
  public record Order(Path directory, List<String> hosts, int years) {
    /** Copies the list. */
    public Order {
      hosts = List.copyOf(hosts);
    }

    /** Returns the file of the certificate. */
    public Path cert() {
      return directory.resolve("cert.pem");
    }

    /** Returns the file of the key. */
    public Path key() {
      return directory.resolve("key.pem");
    }
  }

  /**
   * Generates a certificate and its key, unless they exist and have not expired.
   *
   * @throws TlsException if they cannot be written, or the existing files cannot be read
   */
  public static void ensure(Order order) {
    Path directory = order.directory();
    if (Files.exists(order.cert()) && Files.exists(order.key())) {
      Date until = PemFiles.certificates(order.cert()).get(0).getNotAfter();
      if (until.toInstant().isAfter(Instant.now())) {
        return;
      }
      LOG.warn(
          "self-signed certificate expired, generating a new one cert={} not-after={}",
          order.cert(),
          until);
    }
    try {
      Files.createDirectories(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp521r1"));
      KeyPair pair = generator.generateKeyPair();
      // The key first: a certificate without its key would never be replaced.
      write(order.key(), pem(new JcaPKCS8Generator(pair.getPrivate(), null)));
      write(order.cert(), pem(certificate(pair, order.hosts(), order.years())));
      LOG.info("generated self-signed certificate cert={} hosts={}", order.cert(), order.hosts());
    } catch (IOException | GeneralSecurityException | OperatorCreationException e) {
      throw new TlsException("cannot generate a certificate in " + directory + ": " + e, e);
    }
  }

  private static Object certificate(KeyPair pair, List<String> hosts, int years)
      throws IOException, OperatorCreationException {
    X500Name name = new X500Name("O=etcd");
    Instant now = Instant.now();
    JcaX509v3CertificateBuilder builder =
        new JcaX509v3CertificateBuilder(
            name,
            new BigInteger(127, new SecureRandom()).add(BigInteger.ONE),
            Date.from(now.minus(Duration.ofMinutes(5))),
            Date.from(now.plus(YEAR.multipliedBy(years))),
            name,
            pair.getPublic());
    builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
    builder.addExtension(
        Extension.keyUsage,
        true,
        new KeyUsage(KeyUsage.digitalSignature | KeyUsage.keyEncipherment | KeyUsage.keyCertSign));
    builder.addExtension(
        Extension.extendedKeyUsage,
        false,
        new ExtendedKeyUsage(
            new KeyPurposeId[] {KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth}));
    GeneralName[] names =
        hosts.stream()
            .distinct()
            .map(
                host ->
                    new GeneralName(
                        host.indexOf(':') >= 0 || host.matches("[0-9.]+")
                            ? GeneralName.iPAddress
                            : GeneralName.dNSName,
                        host))
            .toArray(GeneralName[]::new);
    builder.addExtension(Extension.subjectAlternativeName, false, new GeneralNames(names));
    ContentSigner signer = new JcaContentSignerBuilder("SHA512withECDSA").build(pair.getPrivate());
    return builder.build(signer);
  }

  private static String pem(Object what) throws IOException {
    StringWriter text = new StringWriter();
    try (JcaPEMWriter writer = new JcaPEMWriter(text)) {
      writer.writeObject(what);
    }
    return text.toString();
  }

  /** Writes a file atomically, readable by this user only. */
  private static void write(Path file, String text) throws IOException {
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.deleteIfExists(part);
    Files.createFile(
        part, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    Files.write(part, text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.WRITE);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
