package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.lock.LockResponse;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Clients of the JSON gateway that disconnect before the response (E1, LK1, J6). */
class JsonDisconnectTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final Http1 http = new Http1(STORE.target());

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static String request(String path, String body) {
    return "POST "
        + path
        + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        + body.length()
        + "\r\n\r\n"
        + body;
  }

  private static String lock(String name, long lease) {
    return request("/v3/lock/lock", "{\"name\":\"" + base64(name) + "\",\"lease\":" + lease + "}");
  }

  private static void awaitKeys(ApiClient client, String prefix, long count) {
    ServedStore.await().until(() -> client.range(Requests.prefix(prefix)).getCount() == count);
  }

  @Test
  void disconnectReleasesLock_LK1() {
    String name = STORE.key("lock");
    long holder = STORE.client().grant(600).getID();
    LockResponse held = STORE.client().call(NamesApi.LOCK, NamesApi.lock(name, holder));
    long waiter = STORE.client().grant(600).getID();
    try (Http1.Raw waits = http.connect()) {
      waits.write(lock(name, waiter));
      awaitKeys(STORE.client(), name, 2);
    }
    awaitKeys(STORE.client(), name, 1);
    assertThat(STORE.client().range(Requests.prefix(name)).getKvs(0).getKey())
        .isEqualTo(held.getKey());
  }

  @Test
  void disconnectCancelsLaterRequestOfConnection_LK1() {
    String name = STORE.key("lock");
    STORE.client().call(NamesApi.LOCK, NamesApi.lock(name, STORE.client().grant(600).getID()));
    long waiter = STORE.client().grant(600).getID();
    try (Http1.Raw waits = http.connect()) {
      waits.write(request("/v3/kv/range", "{\"key\":\"AA==\"}"));
      assertThat(waits.line()).isEqualTo("HTTP/1.1 200 OK");
      waits.write(lock(name, waiter));
      awaitKeys(STORE.client(), name, 2);
    }
    awaitKeys(STORE.client(), name, 1);
  }

  @Test
  void disconnectWithdrawsCandidate_E1() {
    String name = STORE.key("election");
    for (int i = 0; i < 2; i++) {
      String campaign =
          request(
              "/v3/election/campaign",
              "{\"name\":\""
                  + base64(name)
                  + "\",\"lease\":"
                  + STORE.client().grant(600).getID()
                  + ",\"value\":\"eA==\"}");
      try (Http1.Raw candidate = http.connect()) {
        candidate.write(campaign);
        awaitKeys(STORE.client(), name, i + 1);
        if (i == 0) {
          // The candidate leads: the response is sent, and its key stays.
          assertThat(candidate.line()).isEqualTo("HTTP/1.1 200 OK");
        }
      }
    }
    awaitKeys(STORE.client(), name, 1);
  }

  @Test
  void disconnectEndsStreamWithoutResponse_J6() {
    STORE.needsOwn();
    String gauge = "etcd_debugging_mvcc_watcher_total";
    STORE.awaitNoWatchers();
    try (Http1.Raw observer = http.connect()) {
      observer.write(
          request("/v3/election/observe", "{\"name\":\"" + base64(STORE.key("none")) + "\"}"));
      ServedStore.await().until(() -> metric(gauge) == 1);
    }
    STORE.awaitNoWatchers();
  }

  private double metric(String name) {
    return MetricsText.of(http.get("/metrics").body()).value(name);
  }

  /** As in etcd: a half-closed client gets its response. */
  @Test
  void halfClosedClientGetsResponse_T1() {
    try (Http1.Raw connection = http.connect()) {
      connection.write(
          request(
              "/v3/kv/put", "{\"key\":\"" + base64(STORE.key("half")) + "\",\"value\":\"eA==\"}"));
      connection.endOutput();
      assertThat(connection.line()).isEqualTo("HTTP/1.1 200 OK");
      assertThat(connection.lineOf("{")).contains("revision");
    }
  }

  @Test
  void disconnectReleasesLockOverTls_LK1(@TempDir Path directory) throws Exception {
    try (SecureMember member = new SecureMember(directory).start();
        ApiClient client = member.client(null)) {
      client.call(NamesApi.LOCK, NamesApi.lock("lock", client.grant(600).getID()));
      long waiter = client.grant(600).getID();
      try (Socket socket =
          member.context(null).getSocketFactory().createSocket("127.0.0.1", member.port())) {
        OutputStream out = socket.getOutputStream();
        out.write(lock("lock", waiter).getBytes(StandardCharsets.UTF_8));
        out.flush();
        awaitKeys(client, "lock", 2);
      }
      awaitKeys(client, "lock", 1);
    }
  }
}
