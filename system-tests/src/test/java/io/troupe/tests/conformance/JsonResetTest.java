package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.lock.LockResponse;
import io.troupe.grpc.api.lock.UnlockRequest;
import io.troupe.grpc.api.mvcc.KeyValue;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients of the JSON gateway over HTTP/2 that reset a stream before its response, and keep their
 * connection (E1, LK1, J6).
 */
class JsonResetTest {
  private static final String NAME = "turn";

  private final SecureMember member;
  private final ApiClient client;
  private final RawHttp2 connection;

  JsonResetTest(@TempDir Path directory) throws Exception {
    member = new SecureMember(directory).start();
    client = member.client(null);
    connection = RawHttp2.connect(member.context(null), member.port());
  }

  @BeforeEach
  void awaitReady() {
    // The first call waits until the member serves.
    client.put("other", "1");
  }

  @AfterEach
  void stop() {
    connection.close();
    client.close();
    member.close();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private int lock() {
    return lock(client.grant(600).getID());
  }

  private int lock(long lease) {
    return connection.json(
        "/v3/lock/lock", "{\"name\":\"" + base64(NAME) + "\",\"lease\":" + lease + "}");
  }

  private int campaign() {
    long lease = client.grant(600).getID();
    return connection.json(
        "/v3/election/campaign",
        "{\"name\":\"" + base64(NAME) + "\",\"lease\":" + lease + ",\"value\":\"eA==\"}");
  }

  private LockResponse held() {
    return client.call(NamesApi.LOCK, NamesApi.lock(NAME, client.grant(600).getID()));
  }

  private void awaitKeys(long count) {
    ServedStore.await().until(() -> client.range(Requests.prefix(NAME)).getCount() == count);
  }

  private Set<String> keys() {
    return client.range(Requests.prefix(NAME)).getKvsList().stream()
        .map(found -> found.getKey().toStringUtf8())
        .collect(Collectors.toSet());
  }

  private void unlock(LockResponse held) {
    client.call(NamesApi.UNLOCK, UnlockRequest.newBuilder().setKey(held.getKey()).build());
  }

  private double metric(String name) throws Exception {
    return MetricsText.of(
            member.send(HttpClient.Version.HTTP_1_1, member.port(), null, "/metrics", "").body())
        .value(name);
  }

  @Test
  void resetReleasesLock_LK1() {
    LockResponse held = held();
    int first = lock();
    awaitKeys(2);
    int second = lock();
    awaitKeys(3);
    connection.reset(first);
    awaitKeys(2);
    assertThat(client.range(Requests.prefix(NAME)).getKvsList())
        .extracting(KeyValue::getKey)
        .contains(held.getKey());
    // The other stream of the connection still waits, and acquires the lock.
    unlock(held);
    assertThat(connection.httpStatus(second)).isEqualTo("200");
    awaitKeys(1);
    // A sent response is not revoked.
    connection.reset(second);
    connection.pingAndWait();
    awaitKeys(1);
  }

  @Test
  void resetWithdrawsCandidate_E1() {
    int elected = campaign();
    assertThat(connection.httpStatus(elected)).isEqualTo("200");
    int waits = campaign();
    awaitKeys(2);
    connection.reset(waits);
    awaitKeys(1);
  }

  /**
   * The reset arrives before the request is checked: no waiting call may remain. If the member
   * notices the reset only after the acquisition, the lock is held, as over gRPC, so the test
   * releases it afterwards.
   */
  @Test
  void immediateResetReleasesLock_LK1() {
    LockResponse held = held();
    for (int i = 0; i < 50; i++) {
      connection.reset(lock());
    }
    long lease = client.grant(600).getID();
    int last = lock(lease);
    Set<String> expected =
        Set.of(held.getKey().toStringUtf8(), NAME + "/" + Long.toHexString(lease));
    ServedStore.await().until(() -> keys().equals(expected));
    unlock(held);
    assertThat(connection.httpStatus(last)).isEqualTo("200");
  }

  @Test
  void resetEndsStreamWithoutResponse_J6() throws Exception {
    String gauge = "etcd_debugging_mvcc_watcher_total";
    double before = metric(gauge);
    int stream = connection.json("/v3/election/observe", "{\"name\":\"" + base64("unused") + "\"}");
    ServedStore.await().until(() -> metric(gauge) == before + 1);
    connection.reset(stream);
    ServedStore.await().until(() -> metric(gauge) == before);
  }
}
