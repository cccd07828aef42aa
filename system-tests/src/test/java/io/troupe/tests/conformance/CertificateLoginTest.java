package io.troupe.tests.conformance;

import static io.grpc.Status.Code.PERMISSION_DENIED;
import static io.grpc.Status.Code.UNAUTHENTICATED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.troupe.edge.connection.PortServices;
import io.troupe.grpc.api.AuthUserAddRequest;
import io.troupe.grpc.api.AuthUserListRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.auth.Permission;
import io.troupe.grpc.api.auth.UserAddOptions;
import io.troupe.node.tls.TestAuthority;
import io.troupe.node.tls.TestAuthority.Issued;
import io.troupe.node.tls.TestAuthority.KeyForm;
import io.troupe.testing.FreePort;
import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Clients that must show a certificate, which names their user (TL2-TL4, A14, T5). */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CertificateLoginTest {
  private static final String PUT = "{\"key\":\"YQ==\",\"value\":\"YQ==\"}";

  private @Nullable SecureMember member;
  private @Nullable Issued root;
  private @Nullable Issued alice;

  /**
   * Root and alice have certificates; alice may only read "a"; bob has no certificate and all
   * permissions.
   */
  @BeforeAll
  void start(@TempDir Path directory) throws Exception {
    List<String> metrics =
        List.of("https://127.0.0.1:" + FreePort.next(), "http://127.0.0.1:" + FreePort.next());
    member =
        new SecureMember(directory)
            .wantingCertificates()
            .with("bcrypt-cost", 4)
            .with("listen-client-urls", List.of("https://127.0.0.1:0", "http://127.0.0.1:0"))
            .with("listen-metrics-urls", metrics)
            .start();
    root = member().certificate("root");
    alice = member().certificate("alice");
    try (ApiClient client = member().client(root)) {
      AuthClient byCertificate = AuthClient.anonymous(client);
      client.put("a", "1");
      byCertificate.roleAdd("reader");
      byCertificate.grant("reader", Permission.Type.READ, "a", "");
      byCertificate.call(
          AuthClient.USER_ADD,
          AuthUserAddRequest.newBuilder()
              .setName("alice")
              .setOptions(UserAddOptions.newBuilder().setNoPassword(true))
              .build());
      byCertificate.grantRole("alice", "reader");
      byCertificate.userAdd("bob", "pw");
      byCertificate.grantRole("bob", "root");
      byCertificate.userAdd("root", "pw");
      byCertificate.grantRole("root", "root");
      byCertificate.enable();
    }
  }

  @AfterAll
  void stop() {
    member().close();
  }

  private SecureMember member() {
    return Objects.requireNonNull(member);
  }

  private static Metadata metadata(String... namesAndValues) {
    Metadata metadata = new Metadata();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      metadata.put(
          Metadata.Key.of(namesAndValues[i], Metadata.ASCII_STRING_MARSHALLER),
          namesAndValues[i + 1]);
    }
    return metadata;
  }

  private static void unavailable(ApiClient client) {
    assertThatThrownBy(() -> client.get("a"))
        .isInstanceOfSatisfying(
            StatusRuntimeException.class,
            e -> assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
  }

  @Test
  void missingOrForeignCertificateIsRefused_TL2(@TempDir Path elsewhere) throws Exception {
    TestAuthority other = new TestAuthority(elsewhere, "other");
    try (ApiClient none = member().client(null);
        ApiClient foreign = member().client(other.issue("root", "root", KeyForm.EC_PKCS8));
        ApiClient over = member().client(member().authority().expired("root-of-old"))) {
      unavailable(none);
      unavailable(foreign);
      unavailable(over);
    }
    member().awaitLine("rejected connection on client endpoint", "remote-addr=127.0.0.1:");
  }

  @Test
  void commonNameIsUser_A14() {
    try (ApiClient byRoot = member().client(root);
        ApiClient byAlice = member().client(alice)) {
      byRoot.put("b", "2");
      assertThat(byRoot.record("b").getValue().toStringUtf8()).isEqualTo("2");
      assertThat(byAlice.record("a").getValue().toStringUtf8()).isEqualTo("1");
      byAlice.refused(
          Api.PUT,
          Requests.put("a", "x").build(),
          PERMISSION_DENIED,
          "etcdserver: permission denied");
      byAlice.refused(
          Api.RANGE, Requests.get("b").build(), PERMISSION_DENIED, "etcdserver: permission denied");
      AuthClient.anonymous(byAlice)
          .denied(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance());
      assertThat(
              AuthClient.anonymous(byRoot)
                  .call(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance())
                  .getUsersList())
          .containsExactly("alice", "bob", "root");
      try (WatchStream watch = byAlice.watch()) {
        watch.create(Requests.watch("a"));
        byRoot.put("a", "1");
        assertThat(watch.events(1)).hasSize(1);
      }
    }
  }

  @Test
  void unknownUsersHaveNoPermission_A14() throws Exception {
    try (ApiClient unknown = member().client(member().certificate("unknown"))) {
      unknown.refused(
          Api.RANGE, Requests.get("a").build(), PERMISSION_DENIED, "etcdserver: permission denied");
      unknown.refused(
          Api.PUT,
          Requests.put("a", "x").build(),
          PERMISSION_DENIED,
          "etcdserver: permission denied");
    }
    try (ApiClient nameless = member().client(member().certificate(""))) {
      AuthClient client = AuthClient.anonymous(nameless);
      client.denied(Api.PUT, Requests.put("a", "x").build());
      client.nameless(AuthClient.USER_LIST, AuthUserListRequest.getDefaultInstance());
      client.call(Api.STATUS, StatusRequest.getDefaultInstance());
      client.call(Api.GRANT, LeaseGrantRequest.newBuilder().setTTL(600).build());
    }
  }

  @Test
  void tokenPrecedesCertificate_A14() {
    try (ApiClient client = member().client(alice)) {
      AuthClient bob = AuthClient.anonymous(client).login("bob", "pw");
      bob.call(Api.PUT, Requests.put("b", "by bob").build());
      AuthClient.anonymous(client)
          .showing("rubbish")
          .refused(
              Api.RANGE,
              Requests.get("a").build(),
              UNAUTHENTICATED,
              "etcdserver: invalid auth token");
    }
  }

  /** T5; no metadata of a client changes its user. */
  @Test
  void metadataDoesNotSetUser_A14() {
    try (ApiClient byRoot = member().client(root);
        ApiClient byAlice = member().client(alice);
        ApiClient plain = new ApiClient("127.0.0.1:" + member().port(PortServices.ALL, 1))) {
      assertThatThrownBy(
              () ->
                  byRoot.call(
                      Api.PUT, Requests.put("b", "x").build(), metadata("grpcgateway-accept", "")))
          .hasMessageContaining("etcdserver: user name is empty");
      Metadata forged =
          metadata(
              "remote-address", "connection-1",
              "tls-session-info", "CN=root",
              "x-forwarded-for", "connection-1",
              "x-real-ip", "connection-1",
              "user", "root");
      for (ApiClient client : List.of(byAlice, plain)) {
        Metadata none = new Metadata();
        for (Metadata sent : List.of(none, forged)) {
          assertThatThrownBy(() -> client.call(Api.PUT, Requests.put("b", "x").build(), sent))
              .hasMessageContaining(
                  client == plain ? "user name is empty" : "etcdserver: permission denied");
        }
      }
    }
  }

  @Test
  void gatewayRefusesCertificatesWithCommonName_A14() throws Exception {
    for (Version version : Version.values()) {
      for (String path : List.of("/v3/kv/put", "/v3beta/kv/put", "/v3/nothing")) {
        HttpResponse<String> answer = member().send(version, member().port(), root, path, PUT);
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.body())
            .isEqualTo(
                "CommonName of client sending a request against gateway will be ignored and not"
                    + " used as expected\n");
      }
      Issued nameless = member().certificate("");
      assertThat(member().send(version, member().port(), nameless, "/v3/kv/put", PUT).body())
          .contains("etcdserver: user name is empty");
      assertThat(member().send(version, member().port(), root, "/version", "").statusCode())
          .as("H1: what is not the gateway's is served")
          .isEqualTo(200);
    }
  }

  @Test
  void metricsPortsCheckAddressInCertificate_TL2() throws Exception {
    int port = member().port(PortServices.METRICS, 0);
    List<Issued> good =
        List.of(
            member().certificate("anywhere"),
            member().certificate("here", "127.0.0.1"),
            member().certificate("by-name", "localhost"),
            member().certificate("either", "10.1.2.3", "localhost"));
    for (Issued each : good) {
      assertThat(member().send(Version.HTTP_1_1, port, each, "/metrics", "").statusCode())
          .isEqualTo(200);
    }
    Issued elsewhere = member().certificate("elsewhere", "10.1.2.3");
    Issued unknown = member().certificate("unknown", "no-such-host.invalid");
    for (Issued each : List.of(elsewhere, unknown)) {
      assertThatThrownBy(() -> member().send(Version.HTTP_1_1, port, each, "/metrics", ""))
          .isInstanceOf(java.io.IOException.class);
      assertThat(
              member().send(Version.HTTP_1_1, member().port(), each, "/metrics", "").statusCode())
          .as("ports for clients do not ask")
          .isEqualTo(200);
    }
    member().awaitLine("rejected connection on client endpoint", "10.1.2.3");
    assertThat(
            new Http1("127.0.0.1:" + member().port(PortServices.METRICS, 1))
                .get("/health")
                .statusCode())
        .isEqualTo(200);
  }
}
