package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import io.grpc.ManagedChannel;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.troupe.edge.connection.PortServices;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.node.tls.ClientContext;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.testing.LoggedLines;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** A member in this JVM with certificates of its own CA, and clients of it. */
final class SecureMember implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(20);
  private static final String BLOCK = "troupe.client-transport-security.";

  private final Path directory;
  private final TestAuthority authority;
  private final Issued own;
  private final Map<String, Object> settings = new HashMap<>();
  private final LoggedLines log = new LoggedLines("io.troupe.edge");
  private @Nullable RunningNode node;

  /** Not started yet; has a certificate for 127.0.0.1 and one TLS port. */
  SecureMember(Path directory) throws Exception {
    this.directory = directory;
    this.authority = new TestAuthority(directory, "authority");
    this.own = authority.issue("server", "server", KeyForm.EC_SEC1, "127.0.0.1", "localhost");
    settings.putAll(TestConfig.alone(directory.resolve("data")));
    settings.put("troupe.listen-client-urls", List.of("https://127.0.0.1:0"));
    settings.put(BLOCK + "cert-file", own.cert().toString());
    settings.put(BLOCK + "key-file", own.key().toString());
  }

  SecureMember with(String key, Object value) {
    settings.put("troupe." + key, value);
    return this;
  }

  /** A setting of client-transport-security. */
  SecureMember tls(String key, Object value) {
    settings.put(BLOCK + key, value);
    return this;
  }

  /** Clients must show a certificate of the CA, which names their user. */
  SecureMember wantingCertificates() {
    return tls("trusted-ca-file", authority.file().toString()).tls("client-cert-auth", true);
  }

  SecureMember start() {
    Config config = TestConfig.of(settings);
    node =
        RunningNode.start(
            config,
            failure -> {
              throw new AssertionError("the member cannot continue", failure);
            });
    return this;
  }

  private RunningNode node() {
    RunningNode started = node;
    if (started == null) {
      throw new IllegalStateException("not started");
    }
    return started;
  }

  /** The first of the ports for clients. */
  int port() {
    return node().clientPorts().get(0);
  }

  /** The port of that kind with that number. */
  int port(PortServices serves, int number) {
    return node().ports(serves).get(number);
  }

  TestAuthority authority() {
    return authority;
  }

  Issued own() {
    return own;
  }

  Path directory() {
    return directory;
  }

  /** A client certificate for a user. */
  Issued certificate(String commonName, String... hosts) throws Exception {
    return authority.issue("client-" + commonName, commonName, KeyForm.EC_PKCS8, hosts);
  }

  /** A connection that trusts the CA and shows that certificate, or none. */
  ApiClient client(@Nullable Issued shown) {
    return client(port(), authority.file(), shown);
  }

  static ApiClient client(int port, Path ca, @Nullable Issued shown) {
    try {
      SslContextBuilder builder = SslContextBuilder.forClient().trustManager(ca.toFile());
      if (shown != null) {
        builder.keyManager(shown.cert().toFile(), shown.key().toFile());
      }
      ManagedChannel channel =
          NettyChannelBuilder.forAddress("127.0.0.1", port)
              .sslContext(GrpcSslContexts.configure(builder, SslProvider.JDK).build())
              .maxInboundMessageSize(Integer.MAX_VALUE)
              .build();
      return new ApiClient(channel);
    } catch (SSLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** TLS of a client of the JDK that trusts the CA. */
  SSLContext context(@Nullable Issued shown) throws GeneralSecurityException, IOException {
    return ClientContext.of(authority.file(), shown);
  }

  /** GET, or POST with a body. */
  HttpResponse<String> send(
      HttpClient.Version version, int port, @Nullable Issued shown, String path, String body)
      throws Exception {
    HttpClient client = HttpClient.newBuilder().version(version).sslContext(context(shown)).build();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path)).timeout(TIMEOUT);
    return client.send(
        body.isEmpty() ? request.build() : request.POST(BodyPublishers.ofString(body)).build(),
        BodyHandlers.ofString());
  }

  /** Waits until the gateway's log has a line with all of these parts. */
  void awaitLine(String... parts) {
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .untilAsserted(
            () -> assertThat(log.texts()).anySatisfy(line -> assertThat(line).contains(parts)));
  }

  @Override
  public void close() {
    log.close();
    if (node != null) {
      node.close();
    }
  }
}
