package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.troupe.edge.connection.PortServices;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One address with and without TLS (T1, T2, T4, A14, H6, section 8.5): the first byte decides. */
class TlsDetectingPortTest {
  private static final String REJECTED = "rejected connection on client endpoint";
  private static final String RANGE = "{\"key\":\"AA==\"}";
  private static final String GET = "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n";

  private static final int PORT = FreePort.next();
  private static final int HTTP = FreePort.next();
  private static @Nullable SecureMember member;
  private static @Nullable Issued shown;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    member =
        new SecureMember(directory)
            .wantingCertificates()
            .with("listen-client-urls", urls(PORT))
            .with("host-whitelist", List.of("127.0.0.1"))
            .with("max-connections", 4096)
            .start();
    shown = member().certificate("someone");
  }

  private static List<String> urls(int port) {
    return List.of("http://127.0.0.1:" + port, "https://127.0.0.1:" + port);
  }

  @AfterAll
  static void stop() {
    member().close();
  }

  private static SecureMember member() {
    return Objects.requireNonNull(member);
  }

  private static ApiClient plain() {
    return new ApiClient("127.0.0.1:" + PORT);
  }

  private static Socket socket() throws IOException {
    Socket socket = new Socket(InetAddress.getLoopbackAddress(), PORT);
    socket.setSoTimeout(40_000);
    return socket;
  }

  /** All bytes until the server closes the connection. */
  private static String rest(Socket socket) throws IOException {
    try {
      InputStream in = socket.getInputStream();
      return new String(in.readAllBytes(), StandardCharsets.ISO_8859_1);
    } catch (SocketException reset) {
      return "";
    }
  }

  private static String at(Socket socket) {
    return "remote-addr=127.0.0.1:" + socket.getLocalPort();
  }

  @Test
  void grpcWithTlsAndWithout_T1() {
    assertThat(member().port(PortServices.ALL, 0)).isEqualTo(PORT);
    assertThat(member().port(PortServices.ALL, 1)).isEqualTo(PORT);
    try (ApiClient secure = member().client(shown);
        ApiClient plain = plain()) {
      secure.put("both", "over TLS");
      assertThat(plain.record("both").getValue().toStringUtf8()).isEqualTo("over TLS");
      try (WatchStream watch = secure.watch();
          WatchStream other = plain.watch()) {
        watch.create(Requests.watch("both"));
        other.create(Requests.watch("both"));
        plain.put("both", "without");
        assertThat(watch.events(1).get(0).getKv().getValue().toStringUtf8()).isEqualTo("without");
        assertThat(other.events(1).get(0).getKv().getValue().toStringUtf8()).isEqualTo("without");
      }
      ByteString large = ByteString.copyFrom(new byte[1 << 20]);
      plain.put("large", large.toStringUtf8());
      secure.put("large too", large.toStringUtf8());
      assertThat(secure.record("large").getValue()).isEqualTo(large);
      assertThat(plain.record("large too").getValue()).isEqualTo(large);
    }
  }

  @ParameterizedTest
  @EnumSource(Version.class)
  void otherPathsAreServedWithTlsAndWithout_T2_H6(Version version) throws Exception {
    HttpResponse<String> found = member().send(version, PORT, shown, "/health", "");
    assertThat(found.body()).contains("\"true\"");
    assertThat(found.version()).isEqualTo(version);
    assertThat(member().send(version, PORT, shown, "/v3/kv/range", RANGE).statusCode())
        .isEqualTo(200);
    Http1 plain = new Http1("127.0.0.1:" + PORT);
    assertThat(plain.get("/health").body()).contains("\"true\"");
    assertThat(plain.post("/v3/kv/range", RANGE).statusCode()).isEqualTo(200);
  }

  @Test
  void hostNamesAreCheckedOnlyWithoutTls_H6() throws Exception {
    String head = "GET /version HTTP/1.1\r\nHost: elsewhere\r\nConnection: close\r\n\r\n";
    try (Socket socket = socket()) {
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      assertThat(rest(socket)).startsWith("HTTP/1.1 421");
    }
    try (SSLSocket socket =
        (SSLSocket) member().context(shown).getSocketFactory().createSocket("127.0.0.1", PORT)) {
      socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
      assertThat(rest(socket)).startsWith("HTTP/1.1 200");
    }
  }

  /** A client without TLS needs no certificate on such an address. */
  @Test
  void clientCertificatesAreRequiredOnlyWithTls_TL2() {
    try (ApiClient without = member().client(null);
        ApiClient plain = plain()) {
      assertThatThrownBy(() -> without.put("k", "v")).isInstanceOf(StatusRuntimeException.class);
      plain.put("k", "v");
    }
    member().awaitLine(REJECTED, "error=");
  }

  @Tag("full")
  @Test
  void silentAndHandshakingConnectionsTimeOutAfterTenSeconds_TL4() throws Exception {
    long startNanos = System.nanoTime();
    try (Socket silent = socket();
        Socket begins = socket();
        ApiClient secure = member().client(shown);
        ApiClient plain = plain()) {
      begins.getOutputStream().write(0x16);
      secure.put("meanwhile", "served");
      plain.put("meanwhile", "served too");
      assertThat(rest(silent)).isEmpty();
      rest(begins);
      assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
          .isBetween(Duration.ofSeconds(9), Duration.ofSeconds(20));
      for (Socket cut : List.of(silent, begins)) {
        member().awaitLine(REJECTED, at(cut), "TLS handshake not completed within 10 s");
      }
    }
  }

  /** As on a port without TLS. */
  @Tag("full")
  @Test
  void startedRequestHasRequestTimeout() throws Exception {
    long startNanos = System.nanoTime();
    try (Socket slow = socket();
        Socket whole = socket()) {
      slow.getOutputStream().write('G');
      whole
          .getOutputStream()
          .write((GET + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
      assertThat(rest(whole)).startsWith("HTTP/1.1 200").contains("\"health\":\"true\"");
      assertThat(rest(slow)).isEmpty();
      assertThat(Duration.ofNanos(System.nanoTime() - startNanos))
          .isBetween(Duration.ofSeconds(18), Duration.ofSeconds(30));
    }
  }

  /** One byte at a time, with and without TLS: the first bytes are not lost. */
  @Test
  void bytesSentOneByOneAreServed() throws Exception {
    try (Socket socket = socket()) {
      socket.setTcpNoDelay(true);
      byte[] head = (GET + "\r\n").getBytes(StandardCharsets.US_ASCII);
      for (int i = 0; i < 2; i++) {
        for (byte each : head) {
          socket.getOutputStream().write(each);
        }
      }
      socket.shutdownOutput();
      assertThat(rest(socket).split("HTTP/1.1 200", -1)).hasSize(3);
    }
  }

  /** The oldest connections are closed, and both kinds of clients are served. */
  @Test
  void silentConnectionsDoNotBlockOtherClients_TL4() throws Exception {
    int actor = 512;
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i <= actor; i++) {
        silent.add(socket());
      }
      assertThat(rest(silent.get(0))).isEmpty();
      member()
          .awaitLine(REJECTED, at(silent.get(0)), "more than " + actor + " handshakes at a time");
      try (ApiClient secure = member().client(shown);
          ApiClient plain = plain()) {
        secure.put("in spite of them", "served");
        plain.put("in spite of them", "served too");
      }
    } finally {
      for (Socket each : silent) {
        each.close();
      }
    }
  }

  @Test
  void grpcOnlyAndHttpOnlyPortsDetectTls_T1(@TempDir Path directory) throws Exception {
    int grpc = FreePort.next();
    try (SecureMember apart =
            new SecureMember(directory)
                .with("listen-client-urls", urls(grpc))
                .with("listen-client-http-urls", urls(HTTP))
                .start();
        ApiClient secure = apart.client(null);
        ApiClient plain = new ApiClient("127.0.0.1:" + grpc)) {
      secure.put("a", "over TLS");
      assertThat(plain.record("a").getValue().toStringUtf8()).isEqualTo("over TLS");
      assertThat(new Http1("127.0.0.1:" + HTTP).get("/health").body()).contains("true");
      for (Version version : Version.values()) {
        assertThat(apart.send(version, HTTP, null, "/health", "").body()).contains("true");
      }
      assertThat(new Http1("127.0.0.1:" + grpc).get("/health").statusCode()).isEqualTo(505);
      assertThatThrownBy(() -> apart.send(Version.HTTP_1_1, grpc, null, "/health", ""))
          .isInstanceOf(IOException.class);
    }
  }
}
