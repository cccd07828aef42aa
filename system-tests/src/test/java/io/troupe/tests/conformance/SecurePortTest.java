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
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** TLS ports for clients without certificates (T1, T2, H6, H8, section 8.5). */
class SecurePortTest {
  private static final String REJECTED = "rejected connection on client endpoint";
  private static final String RANGE = "{\"key\":\"AA==\"}";

  private static @Nullable SecureMember member;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    String metrics = "https://127.0.0.1:" + FreePort.next();
    member =
        new SecureMember(directory)
            .with("listen-client-urls", List.of("https://127.0.0.1:0", "http://127.0.0.1:0"))
            .with("listen-metrics-urls", List.of(metrics))
            .with("host-whitelist", List.of("members.example"))
            .with("max-connections", 4096)
            .start();
  }

  @AfterAll
  static void stop() {
    member().close();
  }

  private static SecureMember member() {
    return Objects.requireNonNull(member);
  }

  private static Socket socket(int port) throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
    socket.setSoTimeout(30_000);
    return socket;
  }

  private static SSLSocket secureSocket(int port, String... protocols) throws Exception {
    SSLSocket socket =
        (SSLSocket) member().context(null).getSocketFactory().createSocket("127.0.0.1", port);
    socket.setSoTimeout(30_000);
    SSLParameters parameters = socket.getSSLParameters();
    parameters.setApplicationProtocols(protocols);
    socket.setSSLParameters(parameters);
    return socket;
  }

  /** All bytes until the server closes the connection. */
  private static String rest(Socket socket) throws IOException {
    StringBuilder all = new StringBuilder();
    try {
      InputStream in = socket.getInputStream();
      for (int b = in.read(); b >= 0; b = in.read()) {
        all.append((char) b);
      }
    } catch (SocketException | SSLException reset) {
      return all.toString();
    }
    return all.toString();
  }

  @Test
  void grpcIsServedWithTlsAndOnPlaintextPort_T1() {
    try (ApiClient secure = member().client(null);
        ApiClient plain = new ApiClient("127.0.0.1:" + member().port(PortServices.ALL, 1))) {
      secure.put("both", "over TLS");
      assertThat(plain.record("both").getValue().toStringUtf8()).isEqualTo("over TLS");
      try (WatchStream watch = secure.watch()) {
        watch.create(Requests.watch("both"));
        plain.put("both", "without");
        assertThat(watch.events(1).get(0).getKv().getValue().toStringUtf8()).isEqualTo("without");
      }
    }
  }

  @ParameterizedTest
  @EnumSource(Version.class)
  void otherPathsAreServedOverHttp1AndHttp2_T2_H6(Version version) throws Exception {
    int port = member().port();
    HttpResponse<String> found = member().send(version, port, null, "/version", "");
    assertThat(found.statusCode()).as("any name is good with TLS").isEqualTo(200);
    assertThat(found.version()).isEqualTo(version);
    assertThat(member().send(version, port, null, "/health", "").body()).contains("\"true\"");
    assertThat(member().send(version, port, null, "/metrics", "").body())
        .contains("etcd_server_has_leader 1");
    assertThat(member().send(version, port, null, "/v3/kv/range", RANGE).statusCode())
        .isEqualTo(200);
    assertThat(member().send(version, port, null, "/v3beta/kv/range", RANGE).statusCode())
        .isEqualTo(200);
    assertThat(member().send(version, port, null, "/nothing", "").statusCode()).isEqualTo(404);
    HttpResponse<String> plain =
        new Http1("127.0.0.1:" + member().port(PortServices.ALL, 1)).get("/");
    assertThat(plain.statusCode()).as("without TLS the name counts").isEqualTo(421);
  }

  @Test
  void clientsWithoutAlpnUseHttp1_T1() throws Exception {
    for (String[] offered : new String[][] {{}, {"http/1.1"}}) {
      try (SSLSocket socket = secureSocket(member().port(), offered)) {
        OutputStream out = socket.getOutputStream();
        out.write(
            "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                .getBytes(StandardCharsets.US_ASCII));
        assertThat(rest(socket)).startsWith("HTTP/1.1 200 OK").contains("\"health\":\"true\"");
      }
    }
    try (SSLSocket socket = secureSocket(member().port(), "spdy/1")) {
      assertThatThrownBy(socket::startHandshake).isInstanceOf(SSLException.class);
    }
  }

  @Test
  void metricsOverTls_H8() throws Exception {
    int port = member().port(PortServices.METRICS, 0);
    for (Version version : Version.values()) {
      assertThat(member().send(version, port, null, "/metrics", "").statusCode()).isEqualTo(200);
      assertThat(member().send(version, port, null, "/readyz", "").body()).isEqualTo("ok\n");
      assertThat(member().send(version, port, null, "/version", "").statusCode()).isEqualTo(404);
      assertThat(member().send(version, port, null, "/v3/kv/range", RANGE).statusCode())
          .isEqualTo(404);
    }
  }

  @Test
  void plaintextConnectionToTlsPortIsClosedAndLogged_T2() throws Exception {
    try (Socket socket = socket(member().port())) {
      socket
          .getOutputStream()
          .write("GET /health HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      assertThat(rest(socket)).doesNotContain("HTTP/1.1 200");
      String address = "remote-addr=127.0.0.1:" + socket.getLocalPort();
      member().awaitLine(REJECTED, address);
    }
    try (ApiClient plain = new ApiClient("127.0.0.1:" + member().port())) {
      assertThatThrownBy(() -> plain.put("k", "v"))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
    }
  }

  @Test
  void tlsConnectionToPlaintextPortIsRefusedImmediately_T2() throws Exception {
    try (SSLSocket socket = secureSocket(member().port(PortServices.ALL, 1))) {
      assertThatThrownBy(socket::startHandshake).isInstanceOf(IOException.class);
    }
  }

  @Test
  void clientThatDistrustsAuthorityDisconnects(@TempDir Path elsewhere) throws Exception {
    TestAuthority other = new TestAuthority(elsewhere, "other");
    try (ApiClient untrusting = SecureMember.client(member().port(), other.file(), null)) {
      assertThatThrownBy(() -> untrusting.put("k", "v"))
          .isInstanceOfSatisfying(
              StatusRuntimeException.class,
              e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
    }
    member().awaitLine(REJECTED, "error=");
  }

  /** A certificate is ignored on a port that requests none. */
  @Test
  void clientCertificatesAreNotRequestedWithoutAuthority_TL2(@TempDir Path elsewhere)
      throws Exception {
    Issued shown = new TestAuthority(elsewhere, "other").issue("x", "x", KeyForm.EC_PKCS8);
    try (ApiClient client = member().client(shown)) {
      client.put("shown", "in vain");
    }
  }

  /**
   * One client sends nothing, one sends a byte now and then: both are closed, other clients are
   * served meanwhile.
   */
  @Tag("full")
  @Test
  void handshakeTimesOutAfterTenSeconds_TL4() throws Exception {
    long startNanos = System.nanoTime();
    ScheduledExecutorService trickle = Executors.newSingleThreadScheduledExecutor();
    try (Socket silent = socket(member().port());
        Socket slow = socket(member().port())) {
      // The beginning of a ClientHello of 512 bytes, a byte now and then.
      byte[] hello = Arrays.copyOf(new byte[] {22, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3}, 200);
      OutputStream out = slow.getOutputStream();
      AtomicInteger sent = new AtomicInteger();
      // Stops when the connection is closed: a scheduled task that fails is not repeated.
      Future<?> trickling =
          trickle.scheduleAtFixedRate(
              () -> {
                try {
                  out.write(hello[sent.getAndIncrement() % hello.length]);
                  out.flush();
                } catch (IOException cut) {
                  throw new UncheckedIOException(cut);
                }
              },
              0,
              250,
              TimeUnit.MILLISECONDS);
      try (ApiClient client = member().client(null)) {
        client.put("meanwhile", "served");
      }
      assertThat(rest(silent)).isEmpty();
      rest(slow);
      assertThat(trickling).failsWithin(Duration.ofSeconds(10));
      Duration took = Duration.ofNanos(System.nanoTime() - startNanos);
      assertThat(took).isBetween(Duration.ofSeconds(9), Duration.ofSeconds(20));
      for (Socket cut : List.of(silent, slow)) {
        member()
            .awaitLine(
                REJECTED,
                "remote-addr=127.0.0.1:" + cut.getLocalPort(),
                "TLS handshake not completed within 10 s");
      }
    } finally {
      trickle.shutdownNow();
    }
  }

  /**
   * The oldest connections are closed: other clients are served while a client opens many
   * connections.
   */
  @Test
  void unfinishedHandshakesDoNotBlockOtherClients_TL4() throws Exception {
    int actor = 512;
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i <= actor; i++) {
        silent.add(socket(member().port()));
      }
      assertThat(rest(silent.get(0))).isEmpty();
      try (ApiClient client = member().client(null)) {
        client.put("in spite of them", "served");
      }
      member()
          .awaitLine(
              REJECTED,
              "remote-addr=127.0.0.1:" + silent.get(0).getLocalPort(),
              "more than " + actor + " handshakes at a time");
    } finally {
      for (Socket each : silent) {
        each.close();
      }
    }
  }
}
