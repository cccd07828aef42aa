package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.edge.connection.PortServices;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.testing.FreePort;
import java.net.http.HttpClient.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Certificate files that change while a member runs (TL1, TL4), self-signed certificates (TL5), and
 * T1.
 */
class CertificateRenewalTest {
  private final Path directory;

  CertificateRenewalTest(@TempDir Path directory) {
    this.directory = directory;
  }

  private static void replace(Path with, Path file) throws Exception {
    Path part = file.resolveSibling("part");
    Files.copy(with, part, StandardCopyOption.REPLACE_EXISTING);
    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  private static void unavailable(ApiClient client) {
    assertThatThrownBy(() -> client.get("a"))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
  }

  @Test
  void newCertificatesAreUsedAndOpenWatchContinues_TL1() throws Exception {
    try (SecureMember member = new SecureMember(directory).wantingCertificates().start()) {
      Issued old = member.certificate("old");
      Path oldCa = directory.resolve("old-ca.pem");
      Files.copy(member.authority().file(), oldCa);
      try (ApiClient before = member.client(old);
          WatchStream watch = before.watch()) {
        watch.create(Requests.watch("k"));

        TestAuthority next = new TestAuthority(Files.createDirectory(directory.resolve("n")), "n");
        Issued renewed = next.issue("server", "server", KeyForm.RSA_PKCS8, "127.0.0.1");
        replace(renewed.key(), member.own().key());
        replace(renewed.cert(), member.own().cert());
        replace(next.file(), member.authority().file());

        Issued fresh = next.issue("new", "new", KeyForm.EC_PKCS8);
        try (ApiClient after = SecureMember.client(member.port(), next.file(), fresh);
            ApiClient ofOldServer = SecureMember.client(member.port(), oldCa, fresh);
            ApiClient byOldClient = SecureMember.client(member.port(), next.file(), old)) {
          after.put("k", "over the new certificate");
          assertThat(watch.events(1)).hasSize(1);
          before.put("k", "over the connection of before");
          assertThat(watch.events(1)).hasSize(1);
          unavailable(ofOldServer);
          unavailable(byOldClient);
        }
      }
    }
  }

  @Test
  void revokedCertificatesAreRefusedAsListChanges_TL4() throws Exception {
    SecureMember member = new SecureMember(directory).wantingCertificates();
    Issued good = member.certificate("good");
    Issued bad = member.certificate("bad");
    Path list = member.authority().revoke("void.crl", bad.certificate());
    try (SecureMember running = member.tls("crl-file", list.toString()).start();
        ApiClient first = running.client(good);
        ApiClient revoked = running.client(bad)) {
      first.put("a", "1");
      unavailable(revoked);
      running.awaitLine("rejected connection on client endpoint", "revoked");
      running.authority().revoke("void.crl", bad.certificate(), good.certificate());
      first.put("a", "a connection that stands continues");
      try (ApiClient second = running.client(good)) {
        unavailable(second);
      }
      Files.writeString(list, "no list");
      try (ApiClient third = running.client(running.certificate("third"))) {
        unavailable(third);
      }
      running.authority().revoke("void.crl");
      try (ApiClient fourth = running.client(bad)) {
        fourth.put("a", "2");
      }
    }
  }

  @Test
  void onlyAllowedNamesAreAccepted_TL3() throws Exception {
    try (SecureMember member =
            new SecureMember(directory)
                .wantingCertificates()
                .tls("allowed-hostname", List.of("ops.example"))
                .start();
        ApiClient allowed = member.client(member.certificate("x", "ops.example"));
        ApiClient other = member.client(member.certificate("y", "dev.example"))) {
      allowed.put("a", "1");
      unavailable(other);
      member.awaitLine("rejected connection", "client certificate authentication failed");
    }
  }

  @Test
  void memberServesWithSelfSignedCertificate_TL5() throws Exception {
    Path made = directory.resolve("data/fixtures/client/cert.pem");
    String before;
    try (SecureMember member = auto().start();
        ApiClient client = SecureMember.client(member.port(), made, null)) {
      client.put("a", "1");
      before = Files.readString(made);
    }
    try (SecureMember again = auto().start();
        ApiClient client = SecureMember.client(again.port(), made, null)) {
      assertThat(client.record("a").getValue().toStringUtf8()).isEqualTo("1");
      assertThat(Files.readString(made)).as("it is used again").isEqualTo(before);
    }
  }

  private SecureMember auto() throws Exception {
    return new SecureMember(directory)
        .tls("cert-file", "")
        .tls("key-file", "")
        .tls("auto-tls", true);
  }

  @Test
  void grpcOnlyPortsOfferOnlyHttp2_T1() throws Exception {
    String http = "https://127.0.0.1:" + FreePort.next();
    try (SecureMember member =
            new SecureMember(directory).with("listen-client-http-urls", List.of(http)).start();
        ApiClient client = member.client(null)) {
      client.put("a", "1");
      for (String[] offered : new String[][] {{}, {"http/1.1"}}) {
        try (SSLSocket socket =
            (SSLSocket)
                member.context(null).getSocketFactory().createSocket("127.0.0.1", member.port())) {
          socket.setSoTimeout(30_000);
          SSLParameters parameters = socket.getSSLParameters();
          parameters.setApplicationProtocols(offered);
          socket.setSSLParameters(parameters);
          // In TLS 1.3 the client completes its handshake before the server refuses it.
          assertThatThrownBy(
                  () -> {
                    socket.startHandshake();
                    if (socket.getInputStream().read() < 0) {
                      throw new SSLException("closed");
                    }
                  })
              .isInstanceOf(java.io.IOException.class);
        }
      }
      int port = member.port(PortServices.HTTP, 0);
      for (Version version : Version.values()) {
        assertThat(member.send(version, port, null, "/version", "").statusCode()).isEqualTo(200);
        assertThat(member.send(version, port, null, "/v3/kv/range", "{\"key\":\"YQ==\"}").body())
            .contains("\"count\":\"1\"");
      }
    }
  }
}
