package io.troupe.node.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import io.troupe.node.discovery.Registry.Item;
import io.troupe.node.tls.ClientContext;
import io.troupe.node.tls.OutgoingTls;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.node.tls.TlsException;
import io.troupe.testing.FreePort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The JSON gateway of a cluster as a registry, in the forms of etcd's gateway. */
@Timeout(60)
class HttpRegistryTest {
  private static final String NO_AUTH =
      "{\"error\":\"etcdserver: authentication is not enabled\",\"code\":9,"
          + "\"message\":\"etcdserver: authentication is not enabled\"}";
  private static final String WRONG_PASSWORD =
      "{\"error\":\"etcdserver: authentication failed, invalid user ID or password\",\"code\":3}";

  /** One response of a server. */
  private record Answer(int status, String body) {}

  private final List<HttpServer> servers = new ArrayList<>();
  private final ExecutorService threads = Executors.newCachedThreadPool();

  /** The request: path, body, and the token if present. */
  private final List<String> asked = new ArrayList<>();

  private final Deque<Answer> answers = new ArrayDeque<>();
  private final CountDownLatch over = new CountDownLatch(1);

  @TempDir Path directory = Path.of("");

  @AfterEach
  void stop() {
    over.countDown();
    servers.forEach(server -> server.stop(0));
    threads.shutdown();
  }

  private URI serve(HttpServer server, String scheme) {
    server.createContext("/", this::answer);
    server.setExecutor(threads);
    server.start();
    servers.add(server);
    return URI.create(scheme + "://127.0.0.1:" + server.getAddress().getPort());
  }

  private URI plain() throws IOException {
    return serve(HttpServer.create(anyPort(), 0), "http");
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private synchronized void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    String token = exchange.getRequestHeaders().getFirst("Authorization");
    asked.add(exchange.getRequestURI() + " " + body + (token == null ? "" : " " + token));
    Answer answer = answers.remove();
    byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(answer.status(), bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private DiscoverySettings settings(
      String user, String ca, @Nullable Issued own, URI... endpoints) {
    return new DiscoverySettings(
        "t",
        List.of(endpoints),
        Duration.ofSeconds(5),
        Duration.ofSeconds(20),
        own == null ? "" : own.cert().toString(),
        own == null ? "" : own.key().toString(),
        ca,
        false,
        user,
        user.isEmpty() ? "" : "a \"secret\"");
  }

  private HttpRegistry registry(URI... endpoints) {
    return new HttpRegistry(settings("", "", null, endpoints));
  }

  private HttpRegistry loggingIn(URI... endpoints) {
    return new HttpRegistry(settings("u", "", null, endpoints));
  }

  private void answers(int status, String body) {
    answers.add(new Answer(status, body));
  }

  @Test
  void getReturnsExistingKey() throws Exception {
    // A 64-bit number is a string, and "Mw==" is 3.
    answers(
        200,
        "{\"header\":{\"cluster_id\":\"14841639068965178418\",\"revision\":\"7\"},"
            + "\"kvs\":[{\"key\":\"L3g=\",\"create_revision\":\"7\",\"value\":\"Mw==\"}],\"count\":\"1\"}");
    assertThat(registry(plain()).get("/x")).contains("3");
    assertThat(asked).containsExactly("/v3/kv/range {\"key\":\"L3g=\"}");
  }

  @Test
  void getOfMissingKeyReturnsEmpty() throws Exception {
    answers(200, "{\"header\":{\"revision\":\"7\"}}");
    assertThat(registry(plain()).get("/x")).isEmpty();
  }

  @Test
  void listReturnsKeysInCreationOrder() throws Exception {
    answers(
        200,
        "{\"kvs\":[{\"key\":\"YS8x\",\"create_revision\":\"9\",\"value\":\"Mw==\"},"
            + "{\"key\":\"YS8y\",\"create_revision\":\"11\"}]}");
    assertThat(registry(plain()).list("a/"))
        .containsExactly(new Item("a/1", "3", 9), new Item("a/2", "", 11));
    // a/ to a0, oldest first.
    assertThat(asked)
        .containsExactly(
            "/v3/kv/range {\"key\":\"YS8=\",\"range_end\":\"YTA=\","
                + "\"sort_order\":\"ASCEND\",\"sort_target\":\"CREATE\"}");
  }

  @Test
  void putSetsKey() throws Exception {
    answers(200, "{\"header\":{\"revision\":\"8\"}}");
    registry(plain()).put("/x", "3");
    assertThat(asked).containsExactly("/v3/kv/put {\"key\":\"L3g=\",\"value\":\"Mw==\"}");
  }

  @Test
  void unavailableEndpointIsSkippedAndWorkingEndpointRemembered() throws Exception {
    URI down = URI.create("http://127.0.0.1:" + FreePort.next());
    answers(500, "no leader");
    answers(200, "{}");
    answers(200, "{}");
    URI failing = plain();
    URI good = plain();
    HttpRegistry registry = registry(down, failing, good);
    assertThat(registry.get("/x")).isEmpty();
    assertThat(registry.get("/x")).isEmpty();
    assertThat(asked).hasSize(3);
  }

  @Test
  void failureOfLastEndpointIsReported() throws Exception {
    answers(404, "<html>\nnothing\n here</html>");
    URI endpoint = plain();
    assertThatIOException()
        .isThrownBy(() -> registry(endpoint).get("/x"))
        .withMessage(endpoint + "/v3/kv/range returned 404 <html> nothing here</html>");
  }

  @Test
  void invalidResponseIsFailure() throws Exception {
    answers(200, "{\"kvs\": 7}");
    assertThatIOException()
        .isThrownBy(() -> registry(plain()).get("/x"))
        .withMessageContaining("returned a malformed response: {\"kvs\": 7}");
  }

  /** The beginning of a response arrives in time, its end never. */
  @Test
  void endlessResponseIsFailure() throws Exception {
    HttpServer server = HttpServer.create(anyPort(), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(200, 100);
          exchange.getResponseBody().write('{');
          exchange.getResponseBody().flush();
          try {
            over.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
    server.setExecutor(threads);
    server.start();
    servers.add(server);
    URI endpoint = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    DiscoverySettings hasty =
        new DiscoverySettings(
            "t",
            List.of(endpoint),
            Duration.ofMillis(100),
            Duration.ofMillis(200),
            "",
            "",
            "",
            false,
            "",
            "");
    assertThatThrownBy(() -> new HttpRegistry(hasty).get("/x"))
        .isInstanceOf(IOException.class)
        .hasMessage(endpoint + " did not respond within PT0.3S");
  }

  @Test
  void loginPrecedesRequestsThatCarryItsToken() throws Exception {
    answers(200, "{\"header\":{},\"token\":\"abc.1\"}");
    answers(200, "{}");
    answers(200, "{}");
    HttpRegistry registry = loggingIn(plain());
    assertThat(registry.get("/x")).isEmpty();
    assertThat(registry.get("/x")).isEmpty();
    assertThat(asked)
        .containsExactly(
            "/v3/auth/authenticate {\"name\":\"u\",\"password\":\"a \\\"secret\\\"\"}",
            "/v3/kv/range {\"key\":\"L3g=\"} abc.1",
            "/v3/kv/range {\"key\":\"L3g=\"} abc.1");
  }

  @Test
  void registryWithoutAuthNeedsNoLogin() throws Exception {
    answers(400, NO_AUTH);
    answers(200, "{}");
    answers(200, "{}");
    HttpRegistry registry = loggingIn(plain());
    assertThat(registry.get("/x")).isEmpty();
    assertThat(registry.get("/x")).isEmpty();
    assertThat(asked)
        .hasSize(3)
        .endsWith("/v3/kv/range {\"key\":\"L3g=\"}", "/v3/kv/range {\"key\":\"L3g=\"}");
  }

  @Test
  void wrongPasswordIsNotRetried() throws Exception {
    answers(400, WRONG_PASSWORD);
    URI endpoint = plain();
    assertThatThrownBy(() -> loggingIn(endpoint).get("/x"))
        .isInstanceOf(DiscoveryException.class)
        .hasMessageStartingWith("discovery: the login of \"u\" is refused: ")
        .hasMessageContaining("invalid user ID or password")
        .hasMessageNotContaining("secret");
  }

  @Test
  void expiredTokenIsReplaced() throws Exception {
    answers(200, "{\"token\":\"abc.1\"}");
    answers(401, "{\"error\":\"etcdserver: invalid auth token\",\"code\":16}");
    answers(200, "{\"token\":\"abc.2\"}");
    answers(200, "{}");
    HttpRegistry registry = loggingIn(plain());
    assertThatThrownBy(() -> registry.get("/x")).isInstanceOf(IOException.class);
    assertThat(registry.get("/x")).isEmpty();
    assertThat(asked.get(3)).endsWith(" abc.2");
  }

  private URI secure(TestAuthority authority, Issued issued, boolean verifiesClients)
      throws Exception {
    // Runs first, because this JVM may continue with engine tests (renegotiation).
    OutgoingTls.context("", "", "", true);
    HttpsServer server = HttpsServer.create(anyPort(), 0);
    server.setHttpsConfigurator(
        new HttpsConfigurator(ClientContext.of(authority.file(), issued)) {
          @Override
          public void configure(HttpsParameters parameters) {
            SSLParameters tls = getSSLContext().getDefaultSSLParameters();
            tls.setNeedClientAuth(verifiesClients);
            parameters.setSSLParameters(tls);
          }
        });
    return serve(server, "https");
  }

  @Test
  void clientAndServerCertificatesAreVerified() throws Exception {
    TestAuthority authority = new TestAuthority(directory, "ca");
    Issued server = authority.issue("server", "server", KeyForm.EC_PKCS8, "127.0.0.1");
    Issued client = authority.issue("client", "client", KeyForm.RSA_PKCS1);
    URI endpoint = secure(authority, server, true);
    String ca = authority.file().toString();
    answers(200, "{}");
    assertThat(new HttpRegistry(settings("", ca, client, endpoint)).get("/x")).isEmpty();
    // Without a client certificate, and without the CA.
    assertThatThrownBy(() -> new HttpRegistry(settings("", ca, null, endpoint)).get("/x"))
        .isInstanceOf(IOException.class);
    assertThatThrownBy(() -> new HttpRegistry(settings("", "", client, endpoint)).get("/x"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("PKIX path building failed");
    assertThat(asked).hasSize(1);
  }

  @Test
  void certificateForAnotherHostIsAcceptedOnlyWithoutVerification() throws Exception {
    TestAuthority authority = new TestAuthority(directory, "ca");
    Issued server = authority.issue("server", "server", KeyForm.EC_PKCS8, "10.9.9.9");
    URI endpoint = secure(authority, server, false);
    assertThatThrownBy(
            () ->
                new HttpRegistry(settings("", authority.file().toString(), null, endpoint))
                    .get("/x"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("127.0.0.1");
    assertThat(asked).isEmpty();
    answers(200, "{}");
    DiscoverySettings blind =
        new DiscoverySettings(
            "t",
            List.of(endpoint),
            Duration.ofSeconds(5),
            Duration.ofSeconds(20),
            "",
            "",
            "",
            true,
            "",
            "");
    assertThat(new HttpRegistry(blind).get("/x")).isEmpty();
  }

  @Test
  void unusableFilesAreReportedImmediately() throws Exception {
    TestAuthority authority = new TestAuthority(directory, "ca");
    Issued one = authority.issue("one", "one", KeyForm.EC_PKCS8);
    Issued other = authority.issue("other", "other", KeyForm.EC_PKCS8);
    URI endpoint = URI.create("https://127.0.0.1:1");
    String missing = directory.resolve("missing.pem").toString();
    assertThatThrownBy(() -> new HttpRegistry(settings("", missing, null, endpoint)))
        .isInstanceOf(TlsException.class);
    Issued mixed = new Issued(one.cert(), other.key(), one.certificate());
    assertThatThrownBy(() -> new HttpRegistry(settings("", "", mixed, endpoint)))
        .isInstanceOf(TlsException.class)
        .hasMessageContaining("is not that of the certificate");
  }
}
