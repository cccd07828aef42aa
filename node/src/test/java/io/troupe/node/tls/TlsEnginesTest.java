package io.troupe.node.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TlsEnginesTest {
  private static final String HOST = "member.test";

  private final Path temp;
  private final TestAuthority authority;

  TlsEnginesTest(@TempDir Path temp) throws Exception {
    this.temp = temp;
    this.authority = new TestAuthority(temp, "authority");
  }

  /** Settings of one side, changed step by step. */
  private static final class Side {
    private final Issued own;
    private String ca = "";
    private boolean certAuth;
    private String crl = "";
    private List<String> cns = List.of();
    private List<String> hostnames = List.of();
    private List<String> suites = List.of();
    private String min = "";
    private String max = "";

    Side(Issued own) {
      this.own = own;
    }

    Side trusts(Path file) {
      ca = file.toString();
      return this;
    }

    TlsSettings settings() {
      return new TlsSettings(
          own.cert().toString(),
          own.key().toString(),
          "",
          "",
          ca,
          certAuth,
          crl,
          cns,
          hostnames,
          suites,
          min,
          max,
          false,
          false,
          false,
          Optional.empty());
    }

    TlsEngines engines() {
      return new TlsEngines(settings());
    }
  }

  private Side server(KeyForm form) throws Exception {
    return new Side(authority.issue("server", "server", form, HOST, "127.0.0.1"));
  }

  private Side client(String name, KeyForm form) throws Exception {
    return new Side(authority.issue("client-" + name, name, form)).trusts(authority.file());
  }

  /** An engine with the parameters of an outgoing connection. */
  private static SSLEngine engine(TlsEngines client, String host) {
    SSLEngine engine = client.clientContext().createSSLEngine(host, 1);
    engine.setUseClientMode(true);
    engine.setSSLParameters(client.clientParameters());
    return engine;
  }

  private static void connect(TlsEngines client, TlsEngines server) throws SSLException {
    Handshake.run(engine(client, HOST), server.server());
  }

  @ParameterizedTest
  @EnumSource(KeyForm.class)
  void keysOfAllFormsAreAccepted_TL2(KeyForm form) throws Exception {
    TlsEngines server = server(form).trusts(authority.file()).engines();
    connect(client("someone", form).engines(), server);
  }

  @Test
  void clientWithoutCertificateOfAuthorityIsRefused_TL2() throws Exception {
    TlsEngines server = server(KeyForm.EC_SEC1).trusts(authority.file()).engines();
    TestAuthority other = new TestAuthority(temp, "other");
    Side unknown =
        new Side(other.issue("unknown", "foreign", KeyForm.EC_SEC1)).trusts(authority.file());
    assertThatThrownBy(() -> connect(unknown.engines(), server)).isInstanceOf(SSLException.class);

    // Without a client CA each client is accepted.
    connect(unknown.engines(), server(KeyForm.EC_SEC1).engines());
  }

  @Test
  void serverCertificateIsVerified() throws Exception {
    TlsEngines server = server(KeyForm.EC_PKCS8).engines();
    TlsEngines client = client("someone", KeyForm.EC_SEC1).engines();
    assertThatThrownBy(() -> Handshake.run(engine(client, "elsewhere.test"), server.server()))
        .isInstanceOf(SSLException.class);
    Handshake.run(engine(client, "127.0.0.1"), server.server());
  }

  @Test
  void allowedNamesAreAccepted_TL3() throws Exception {
    Side byName = server(KeyForm.EC_SEC1).trusts(authority.file());
    byName.cns = List.of("first", "second");
    connect(client("second", KeyForm.EC_SEC1).engines(), byName.engines());
    TlsEngines third = client("third", KeyForm.EC_SEC1).engines();
    assertThatThrownBy(() -> connect(third, byName.engines()))
        .hasStackTraceContaining("client certificate authentication failed");

    Side byHost = server(KeyForm.EC_SEC1).trusts(authority.file());
    byHost.hostnames = List.of("a.clients.test");
    Side wild =
        new Side(authority.issue("wild", "x", KeyForm.EC_SEC1, "*.clients.test"))
            .trusts(authority.file());
    connect(wild.engines(), byHost.engines());
    assertThatThrownBy(() -> connect(third, byHost.engines()))
        .hasStackTraceContaining("client certificate authentication failed");

    byHost.cns = List.of("x");
    assertThatThrownBy(byHost::engines)
        .isInstanceOf(TlsException.class)
        .hasMessageContaining("cannot both be set");
  }

  @Test
  void revokedCertificatesAreRefusedAsListChanges_TL4() throws Exception {
    Side good = client("good", KeyForm.EC_SEC1);
    Side bad = client("bad", KeyForm.EC_SEC1);
    Side made = server(KeyForm.EC_SEC1).trusts(authority.file());
    made.crl = authority.revoke("list.crl", bad.own.certificate()).toString();
    TlsEngines server = made.engines();
    connect(good.engines(), server);
    assertThatThrownBy(() -> connect(bad.engines(), server))
        .hasStackTraceContaining("certificate is revoked");

    authority.revoke("list.crl", bad.own.certificate(), good.own.certificate());
    assertThatThrownBy(() -> connect(good.engines(), server))
        .hasStackTraceContaining("certificate is revoked");
    authority.revoke("list.crl");
    connect(bad.engines(), server);
    Files.writeString(Path.of(made.crl), "no list");
    assertThatThrownBy(() -> connect(good.engines(), server))
        .hasStackTraceContaining("cannot read the list of revoked certificates");
  }

  /** A partial renewal must not accept certificates that the list has revoked meanwhile. */
  @Test
  void newListIsUsedWhileOtherFilesAreBroken_TL4() throws Exception {
    Side someone = client("someone", KeyForm.EC_SEC1);
    Side made = server(KeyForm.EC_SEC1).trusts(authority.file());
    made.crl = authority.revoke("list.crl").toString();
    TlsEngines server = made.engines();
    TlsEngines client = someone.engines();
    connect(client, server);
    replace(authority.issue("other", "server", KeyForm.EC_SEC1, HOST).key(), made.own.key());
    Files.writeString(authority.file(), "no authority");
    connect(client, server);
    authority.revoke("list.crl", someone.own.certificate());
    assertThatThrownBy(() -> connect(client, server))
        .hasStackTraceContaining("certificate is revoked");
  }

  @Test
  void certificatesAndAuthoritiesChangeWhileServerRuns_TL1() throws Exception {
    Side made = server(KeyForm.EC_SEC1).trusts(authority.file());
    TlsEngines server = made.engines();
    TlsEngines before = client("someone", KeyForm.EC_SEC1).engines();
    SSLEngine standing = server.server();
    Handshake.run(engine(before, HOST), standing);

    // The key first: until the certificate follows, the old pair stays in use.
    TestAuthority next = new TestAuthority(temp, "next");
    Issued renewed = next.issue("renewed", "server", KeyForm.RSA_PKCS1, HOST);
    replace(renewed.key(), made.own.key());
    connect(before, server);
    replace(renewed.cert(), made.own.cert());
    assertThatThrownBy(() -> connect(before, server)).isInstanceOf(SSLException.class);

    // Old authority for clients, new one for the server.
    Side mixed = client("someone", KeyForm.EC_SEC1).trusts(next.file());
    connect(mixed.engines(), server);
    Files.writeString(Path.of(made.ca), Files.readString(next.file()));
    assertThatThrownBy(() -> connect(mixed.engines(), server)).isInstanceOf(SSLException.class);
    connect(
        new Side(next.issue("new-client", "someone", KeyForm.EC_SEC1))
            .trusts(next.file())
            .engines(),
        server);
    assertThat(standing.isInboundDone() || standing.isOutboundDone())
        .as("a connection that stands continues")
        .isFalse();
  }

  private static void replace(Path with, Path file) throws Exception {
    Path part = file.resolveSibling("part");
    Files.copy(with, part);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Findings of port scanners: keys that more than one session uses, and SHA-384 MACs. */
  @Test
  void defaultSuitesMatchEtcd_TL6() throws Exception {
    assertThat(server(KeyForm.EC_SEC1).engines().server().getEnabledCipherSuites())
        .contains(
            "TLS_AES_128_GCM_SHA256",
            "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
            "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")
        .noneMatch(suite -> suite.startsWith("TLS_RSA_") || suite.startsWith("TLS_DHE_"))
        .doesNotContain("TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384");
  }

  @Test
  void suitesMissingInJdkAreSkipped_TL6() {
    List<String> names =
        List.of("TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assertThat(
            CipherNames.suites(
                names, List.of(), Set.of("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "other")))
        .containsExactly("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256");
    assertThatThrownBy(() -> CipherNames.suites(names, List.of(), Set.of("other")))
        .isInstanceOf(TlsException.class);
  }

  @Test
  void suitesAndVersions_TL6() throws Exception {
    Side made = server(KeyForm.RSA_PKCS8);
    made.suites = List.of("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256");
    made.max = "TLS1.2";
    TlsEngines server = made.engines();
    SSLEngine taken = server.server();
    Handshake.run(engine(client("someone", KeyForm.EC_SEC1).engines(), HOST), taken);
    assertThat(taken.getSession().getProtocol()).isEqualTo("TLSv1.2");
    assertThat(taken.getSession().getCipherSuite())
        .isEqualTo("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
    Side newest = client("someone", KeyForm.EC_SEC1);
    newest.min = "TLS1.3";
    assertThatThrownBy(() -> connect(newest.engines(), server)).isInstanceOf(SSLException.class);

    made.suites = List.of("NONSENSE");
    assertThatThrownBy(made::engines).hasMessage("unexpected TLS cipher suite \"NONSENSE\"");
    made.suites = List.of();
    made.max = "TLS1.1";
    assertThatThrownBy(made::engines)
        .hasMessage("unexpected TLS version \"TLS1.1\" (must be one of: TLS1.2, TLS1.3)");
  }

  @Test
  void unusableFilesAreReported() throws Exception {
    Issued one = authority.issue("one", "one", KeyForm.EC_SEC1);
    Issued two = authority.issue("two", "two", KeyForm.EC_SEC1);
    assertThatThrownBy(
            () -> new Side(new Issued(one.cert(), two.key(), one.certificate())).engines())
        .isInstanceOf(TlsException.class)
        .hasMessageContaining("two-key.pem")
        .hasMessageContaining("one.pem");
    assertThatThrownBy(
            () -> new Side(new Issued(one.key(), one.key(), one.certificate())).engines())
        .hasMessageContaining("no certificate in");
    Path missing = temp.resolve("missing.pem");
    assertThatThrownBy(() -> new Side(new Issued(missing, one.key(), one.certificate())).engines())
        .hasMessageContaining("missing.pem");
  }

  @Test
  void selfSignedCertificateIsGeneratedOnce_TL5() throws Exception {
    SelfSigned.Order made = order("localhost", "127.0.0.1");
    TlsEngines engines = new TlsEngines(selfSigned(made));
    String before = Files.readString(made.cert());
    assertThat(PemFiles.certificates(made.cert()).get(0).getSubjectX500Principal().getName())
        .isEqualTo("O=etcd");
    connect(engines, engines);
    SelfSigned.ensure(order("elsewhere"));
    assertThat(Files.readString(made.cert())).as("it stays").isEqualTo(before);
    assertThat(Files.getPosixFilePermissions(made.key()).toString())
        .doesNotContain("GROUP", "OTHERS");
  }

  private SelfSigned.Order order(String... hosts) {
    return new SelfSigned.Order(temp.resolve("fixtures/peer"), List.of(hosts), 1);
  }

  private static TlsSettings selfSigned(SelfSigned.Order order) {
    return new TlsSettings(
        order.cert().toString(),
        order.key().toString(),
        "",
        "",
        "",
        false,
        "",
        List.of(),
        List.of(),
        List.of(),
        "",
        "",
        true,
        false,
        false,
        Optional.of(order));
  }

  @Test
  void expiredSelfSignedCertificateIsReplaced_TL5() throws Exception {
    SelfSigned.Order order = order("localhost");
    Files.createDirectories(order.directory());
    Issued over = authority.expired("over");
    Files.copy(over.cert(), order.cert());
    Files.copy(over.key(), order.key());
    SelfSigned.ensure(order);
    X509Certificate made = PemFiles.certificates(order.cert()).get(0);
    assertThat(made.getSubjectX500Principal().getName()).isEqualTo("O=etcd");
    made.checkValidity();
  }

  /** The JDK keeps 20,480 for a day; each has about 3 KiB, and each new client creates one. */
  @Test
  void resumableSessionsAreBounded() throws Exception {
    SSLEngine server = server(KeyForm.EC_SEC1).engines().server();
    SSLEngine client = engine(client("someone", KeyForm.EC_SEC1).engines(), HOST);
    Handshake.run(client, server);
    assertThat(List.of(server, client))
        .extracting(engine -> engine.getSession().getSessionContext().getSessionCacheSize())
        .containsOnly(1024);
  }

  /** The identity of the other side must not change during a connection. */
  @Test
  void clientsCannotRenegotiate() throws Exception {
    Side made = server(KeyForm.EC_SEC1).trusts(authority.file());
    made.max = "TLS1.2";
    SSLEngine taken = made.engines().server();
    SSLEngine client = engine(client("someone", KeyForm.EC_SEC1).engines(), HOST);
    Handshake.run(client, taken);
    client.beginHandshake();
    assertThatThrownBy(() -> Handshake.run(client, taken))
        .isInstanceOf(SSLException.class)
        .hasMessageContaining("renegotiation");
  }
}
