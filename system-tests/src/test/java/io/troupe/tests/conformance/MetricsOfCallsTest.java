package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.MetricsText.moved;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.PutRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 6: the effect of calls on metrics. */
class MetricsOfCallsTest {
  @RegisterExtension
  static final ServedStore STORE = ServedStore.create().with("metrics", "extensive");

  private final Http1 http = new Http1(STORE.target());
  private final ApiClient client = STORE.client();

  private MetricsText metrics() {
    HttpResponse<String> answer = http.get("/metrics");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type").orElse(""))
        .startsWith("text/plain; version=0.0.4");
    return MetricsText.of(answer.body());
  }

  private static String[] rpc(String type, String service, String method, String... more) {
    String[] labels = new String[6 + more.length];
    System.arraycopy(
        new String[] {
          "grpc_type", type, "grpc_service", "etcdserverpb." + service, "grpc_method", method
        },
        0,
        labels,
        0,
        6);
    System.arraycopy(more, 0, labels, 6, more.length);
    return labels;
  }

  @Test
  void writesChangeTheirMetrics() {
    MetricsText before = metrics();
    for (int i = 0; i < 10; i++) {
      client.put(STORE.key("k" + i), "0123456789");
    }
    client.delete(Requests.delete(STORE.key("k0")));
    MetricsText after = metrics();
    assertThat(moved(before, after, "etcd_mvcc_put_total")).isEqualTo(10);
    assertThat(moved(before, after, "etcd_mvcc_delete_total")).isEqualTo(1);
    assertThat(moved(before, after, "etcd_debugging_mvcc_total_put_size_in_bytes"))
        .isGreaterThanOrEqualTo(100);
    String[] put = rpc("unary", "KV", "Put");
    String[] putOk = rpc("unary", "KV", "Put", "grpc_code", "OK");
    for (String name :
        List.of(
            "grpc_server_started_total",
            "grpc_server_msg_received_total",
            "grpc_server_msg_sent_total",
            "grpc_server_handling_seconds_count")) {
      assertThat(moved(before, after, name, put)).as(name).isEqualTo(10);
    }
    assertThat(moved(before, after, "grpc_server_handled_total", putOk)).isEqualTo(10);
    assertThat(
            moved(
                before,
                after,
                "etcd_server_apply_duration_seconds_count",
                "version",
                "v3",
                "op",
                "Put",
                "success",
                "true"))
        .isEqualTo(10);
    assertThat(
            moved(
                before,
                after,
                "etcd_server_request_duration_seconds_count",
                "type",
                "Put",
                "success",
                "true"))
        .isEqualTo(10);
    assertThat(moved(before, after, "etcd_server_proposals_committed_total"))
        .isGreaterThanOrEqualTo(11);
    assertThat(moved(before, after, "etcd_server_proposals_applied_total"))
        .isGreaterThanOrEqualTo(11);
    assertThat(moved(before, after, "etcd_debugging_mvcc_current_revision")).isEqualTo(11);
    assertThat(moved(before, after, "etcd_disk_wal_fsync_duration_seconds_count"))
        .isGreaterThanOrEqualTo(11);
    assertThat(moved(before, after, "etcd_disk_backend_commit_duration_seconds_count"))
        .isGreaterThanOrEqualTo(11);
    assertThat(moved(before, after, "troupe_wal_batch_entries_sum")).isGreaterThanOrEqualTo(11);
    assertThat(moved(before, after, "etcd_disk_wal_write_bytes_total")).isGreaterThan(100);
    assertThat(moved(before, after, "etcd_network_client_grpc_received_bytes_total"))
        .isGreaterThan(100);
    assertThat(moved(before, after, "etcd_network_client_grpc_sent_bytes_total"))
        .isGreaterThan(100);
    assertThat(after.value("etcd_server_proposals_pending")).isZero();
    assertThat(after.value("troupe_watch_lag_revisions")).isZero();
  }

  @Test
  void refusalsAreCountedByTheirCode() {
    MetricsText before = metrics();
    client.refused(
        Api.PUT,
        PutRequest.getDefaultInstance(),
        Code.INVALID_ARGUMENT,
        "etcdserver: key is not provided");
    http.post("/v3/kv/put", "{}");
    MetricsText after = metrics();
    assertThat(
            moved(
                before,
                after,
                "grpc_server_handled_total",
                rpc("unary", "KV", "Put", "grpc_code", "InvalidArgument")))
        .isEqualTo(2);
  }

  @Test
  void readsAreCounted() {
    MetricsText before = metrics();
    client.get(STORE.key("a"));
    http.post("/v3/kv/range", "{\"key\":\"AA==\"}");
    MetricsText after = metrics();
    assertThat(moved(before, after, "etcd_mvcc_range_total")).isEqualTo(2);
    assertThat(moved(before, after, "etcd_server_range_duration_seconds_count", "success", "true"))
        .isEqualTo(2);
    assertThat(moved(before, after, "grpc_server_started_total", rpc("unary", "KV", "Range")))
        .isEqualTo(2);
  }

  private static double timed(MetricsText before, MetricsText after, String type, boolean success) {
    return moved(
        before,
        after,
        "etcd_server_request_duration_seconds_count",
        "type",
        type,
        "success",
        Boolean.toString(success));
  }

  @Test
  void requestsAreTimedByType_ME4() {
    String key = STORE.key("kind");
    client.put(Requests.put(key, "1"));
    MetricsText before = metrics();
    client.get(key);
    client.txn(Requests.txn(Requests.op(Requests.get(key))));
    client.txn(Requests.txn(Requests.op(Requests.put(key, "2"))));
    client.refused(
        Api.TXN,
        Requests.txn(Requests.op(Requests.get(key).setRevision(Long.MAX_VALUE))).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
    http.post("/v3/auth/status", "{}");
    http.post("/v3/cluster/member/list", "{}");
    MetricsText after = metrics();
    assertThat(timed(before, after, "Range", true)).isEqualTo(1);
    assertThat(timed(before, after, "ReadonlyTxn", true)).isEqualTo(1);
    assertThat(timed(before, after, "ReadonlyTxn", false)).isEqualTo(1);
    assertThat(timed(before, after, "Txn", true)).isEqualTo(1);
    assertThat(timed(before, after, "Txn", false)).isZero();
    assertThat(timed(before, after, "AuthStatus", true)).isEqualTo(1);
    assertThat(after.series("etcd_server_request_duration_seconds_count").keySet())
        .extracting(labels -> labels.get("type"))
        .doesNotContain("MemberList");
  }

  @Test
  void watchesAndCancellationsAreCounted() {
    STORE.awaitNoWatchers();
    MetricsText before = metrics();
    try (WatchStream watch = client.watch()) {
      watch.create(Requests.watch(STORE.key("w")));
      MetricsText during = metrics();
      assertThat(moved(before, during, "etcd_debugging_mvcc_watch_stream_total")).isEqualTo(1);
      assertThat(moved(before, during, "etcd_debugging_mvcc_watcher_total")).isEqualTo(1);
      client.put(STORE.key("w"), "x");
      watch.next();
      MetricsText told = metrics();
      assertThat(moved(during, told, "etcd_debugging_mvcc_events_total")).isEqualTo(1);
      assertThat(
              moved(
                  before, told, "grpc_server_msg_sent_total", rpc("bidi_stream", "Watch", "Watch")))
          .isEqualTo(2);
    }
    ServedStore.await()
        .untilAsserted(
            () -> {
              MetricsText after = metrics();
              assertThat(moved(before, after, "etcd_debugging_mvcc_watch_stream_total")).isZero();
              assertThat(moved(before, after, "etcd_debugging_mvcc_watcher_total")).isZero();
              double ended =
                  after.series("grpc_server_handled_total").entrySet().stream()
                      .filter(e -> "etcdserverpb.Watch".equals(e.getKey().get("grpc_service")))
                      .mapToDouble(Map.Entry::getValue)
                      .sum();
              assertThat(ended).isPositive();
            });
  }

  @Test
  void leasesAreCounted() {
    MetricsText before = metrics();
    long id = client.grant(60).getID();
    http.post("/v3/lease/keepalive", "{\"ID\":\"" + id + "\"}");
    client.revoke(id);
    MetricsText after = metrics();
    assertThat(moved(before, after, "etcd_debugging_lease_granted_total")).isEqualTo(1);
    assertThat(moved(before, after, "etcd_debugging_lease_ttl_total_sum")).isEqualTo(60);
    assertThat(moved(before, after, "etcd_debugging_lease_renewed_total")).isEqualTo(1);
    assertThat(moved(before, after, "etcd_debugging_lease_revoked_total")).isEqualTo(1);
  }
}
