package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.MetricsText.moved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.troupe.grpc.api.RpcProto;
import io.troupe.grpc.api.StatusRequest;
import io.troupe.grpc.api.StatusResponse;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Section 6: names, types, labels and buckets, and their forms. MetricsOfCallsTest covers load. */
class MetricsConformanceTest {
  @RegisterExtension
  static final ServedStore STORE = ServedStore.create().with("metrics", "extensive");

  /** Metrics of section 6.1 that a single member reports. */
  private static final Map<String, String> NEEDED =
      Map.ofEntries(
          Map.entry("etcd_server_has_leader", "gauge"),
          Map.entry("etcd_server_leader_changes_seen_total", "counter"),
          Map.entry("grpc_server_handled_total", "counter"),
          Map.entry("grpc_server_started_total", "counter"),
          Map.entry("grpc_server_handling_seconds", "histogram"),
          Map.entry("etcd_server_proposals_failed_total", "counter"),
          Map.entry("etcd_server_proposals_pending", "gauge"),
          Map.entry("etcd_server_proposals_committed_total", "gauge"),
          Map.entry("etcd_server_proposals_applied_total", "gauge"),
          Map.entry("etcd_disk_wal_fsync_duration_seconds", "histogram"),
          Map.entry("etcd_disk_backend_commit_duration_seconds", "histogram"),
          Map.entry("etcd_mvcc_db_total_size_in_bytes", "gauge"),
          Map.entry("etcd_mvcc_db_total_size_in_use_in_bytes", "gauge"),
          Map.entry("etcd_server_quota_backend_bytes", "gauge"),
          Map.entry("etcd_network_client_grpc_received_bytes_total", "counter"),
          Map.entry("etcd_network_client_grpc_sent_bytes_total", "counter"),
          Map.entry("process_resident_memory_bytes", "gauge"));

  /** Other metrics of section 6.2, with their types. */
  private static final Map<String, String> MORE =
      Map.ofEntries(
          Map.entry("etcd_cluster_version", "gauge"),
          Map.entry("etcd_debugging_lease_granted_total", "counter"),
          Map.entry("etcd_debugging_lease_renewed_total", "counter"),
          Map.entry("etcd_debugging_lease_revoked_total", "counter"),
          Map.entry("etcd_debugging_lease_ttl_total", "histogram"),
          Map.entry("etcd_debugging_mvcc_compact_revision", "gauge"),
          Map.entry("etcd_debugging_mvcc_current_revision", "gauge"),
          Map.entry("etcd_debugging_mvcc_events_total", "counter"),
          Map.entry("etcd_debugging_mvcc_keys_total", "gauge"),
          Map.entry("etcd_network_known_peers", "gauge"),
          Map.entry("etcd_debugging_mvcc_slow_watcher_total", "gauge"),
          Map.entry("etcd_debugging_mvcc_total_put_size_in_bytes", "gauge"),
          Map.entry("etcd_debugging_mvcc_watch_stream_total", "gauge"),
          Map.entry("etcd_debugging_mvcc_watcher_total", "gauge"),
          Map.entry("etcd_debugging_auth_revision", "gauge"),
          Map.entry("etcd_debugging_mvcc_db_compaction_keys_total", "counter"),
          Map.entry("etcd_debugging_mvcc_db_compaction_last", "gauge"),
          Map.entry("etcd_debugging_mvcc_db_compaction_pause_duration_milliseconds", "histogram"),
          Map.entry("etcd_debugging_mvcc_db_compaction_total_duration_milliseconds", "histogram"),
          Map.entry("etcd_debugging_mvcc_pending_events_total", "gauge"),
          Map.entry("etcd_debugging_server_lease_expired_total", "counter"),
          Map.entry("etcd_debugging_snap_save_marshalling_duration_seconds", "histogram"),
          Map.entry("etcd_debugging_snap_save_total_duration_seconds", "histogram"),
          Map.entry("etcd_mvcc_hash_duration_seconds", "histogram"),
          Map.entry("etcd_mvcc_hash_rev_duration_seconds", "histogram"),
          Map.entry("etcd_server_feature_enabled", "gauge"),
          Map.entry("etcd_server_heartbeat_send_failures_total", "counter"),
          Map.entry("etcd_server_learner_promote_successes", "counter"),
          Map.entry("etcd_server_snapshot_apply_in_progress_total", "gauge"),
          Map.entry("etcd_snap_db_fsync_duration_seconds", "histogram"),
          Map.entry("etcd_snap_db_save_total_duration_seconds", "histogram"),
          Map.entry("etcd_snap_fsync_duration_seconds", "histogram"),
          Map.entry("process_network_receive_bytes_total", "counter"),
          Map.entry("process_network_transmit_bytes_total", "counter"),
          Map.entry("process_virtual_memory_max_bytes", "gauge"),
          Map.entry("etcd_disk_backend_defrag_duration_seconds", "histogram"),
          Map.entry("etcd_disk_backend_snapshot_duration_seconds", "histogram"),
          Map.entry("etcd_disk_defrag_inflight", "gauge"),
          Map.entry("etcd_disk_wal_write_bytes_total", "gauge"),
          Map.entry("etcd_disk_wal_write_duration_seconds", "histogram"),
          Map.entry("etcd_mvcc_delete_total", "counter"),
          Map.entry("etcd_mvcc_put_total", "counter"),
          Map.entry("etcd_mvcc_range_total", "counter"),
          Map.entry("etcd_mvcc_txn_total", "counter"),
          Map.entry("etcd_network_server_stream_failures_total", "counter"),
          Map.entry("etcd_server_apply_duration_seconds", "histogram"),
          Map.entry("etcd_server_client_requests_total", "counter"),
          Map.entry("etcd_server_go_version", "gauge"),
          Map.entry("etcd_server_health_failures", "counter"),
          Map.entry("etcd_server_health_success", "counter"),
          Map.entry("etcd_server_healthcheck", "gauge"),
          Map.entry("etcd_server_healthchecks_total", "counter"),
          Map.entry("etcd_server_id", "gauge"),
          Map.entry("etcd_server_is_leader", "gauge"),
          Map.entry("etcd_server_is_learner", "gauge"),
          Map.entry("etcd_server_range_duration_seconds", "histogram"),
          Map.entry("etcd_server_read_indexes_failed_total", "counter"),
          Map.entry("etcd_server_request_duration_seconds", "histogram"),
          Map.entry("etcd_server_slow_apply_total", "counter"),
          Map.entry("etcd_server_slow_read_indexes_total", "counter"),
          Map.entry("etcd_server_version", "gauge"),
          Map.entry("grpc_server_msg_received_total", "counter"),
          Map.entry("grpc_server_msg_sent_total", "counter"),
          Map.entry("os_fd_limit", "gauge"),
          Map.entry("os_fd_used", "gauge"),
          Map.entry("process_cpu_seconds_total", "counter"),
          Map.entry("process_max_fds", "gauge"),
          Map.entry("process_open_fds", "gauge"),
          Map.entry("process_start_time_seconds", "gauge"),
          Map.entry("process_virtual_memory_bytes", "gauge"),
          Map.entry("promhttp_metric_handler_requests_in_flight", "gauge"),
          Map.entry("promhttp_metric_handler_requests_total", "counter"),
          Map.entry("troupe_mailbox_messages", "gauge"),
          Map.entry("troupe_apply_lag_entries", "gauge"),
          Map.entry("troupe_watch_lag_revisions", "gauge"),
          Map.entry("troupe_wal_batch_entries", "histogram"),
          Map.entry("troupe_wal_bytes", "gauge"),
          Map.entry("troupe_wal_pending_seconds", "gauge"),
          Map.entry("troupe_snapshot_index", "gauge"),
          Map.entry("troupe_snapshot_save_failures_total", "counter"),
          Map.entry("troupe_backup_interval_seconds", "gauge"),
          Map.entry("troupe_backup_last_success_timestamp_seconds", "gauge"),
          Map.entry("troupe_backup_failures_total", "counter"),
          Map.entry("troupe_backup_log_interval_seconds", "gauge"),
          Map.entry("troupe_backup_log_last_success_timestamp_seconds", "gauge"),
          Map.entry("troupe_backup_log_failures_total", "counter"),
          Map.entry("troupe_wal_retained_bytes", "gauge"),
          Map.entry("troupe_disk_reserve_bytes", "gauge"),
          Map.entry("troupe_disk_reserve_missing_bytes", "gauge"),
          Map.entry("troupe_store_table_bytes", "gauge"));

  private final Http1 http = new Http1(STORE.target());
  private final ApiClient client = STORE.client();

  private MetricsText metrics() {
    HttpResponse<String> answer = http.get("/metrics");
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.headers().firstValue("content-type").orElse(""))
        .startsWith("text/plain; version=0.0.4");
    return MetricsText.of(answer.body());
  }

  @Test
  void allMetricsExistWithTheirTypes() {
    http.get("/readyz");
    client.get(STORE.key("a"));
    http.get("/metrics");
    Map<String, String> types = metrics().types();
    Map<String, String> wanted = new TreeMap<>(NEEDED);
    wanted.putAll(MORE);
    Map<String, String> found = new TreeMap<>(types);
    found.keySet().retainAll(wanted.keySet());
    assertThat(found).isEqualTo(wanted);
  }

  @ParameterizedTest
  @CsvSource({
    "etcd_disk_wal_fsync_duration_seconds, 0.001, 14",
    "etcd_disk_backend_commit_duration_seconds, 0.001, 14",
    "etcd_disk_backend_snapshot_duration_seconds, 0.01, 17",
    "etcd_debugging_lease_ttl_total, 1, 24",
    "etcd_debugging_mvcc_db_compaction_pause_duration_milliseconds, 1, 13",
    "etcd_debugging_mvcc_db_compaction_total_duration_milliseconds, 100, 14",
    "etcd_debugging_snap_save_marshalling_duration_seconds, 0.001, 14",
    "etcd_debugging_snap_save_total_duration_seconds, 0.001, 14",
    "etcd_mvcc_hash_duration_seconds, 0.01, 15",
    "etcd_mvcc_hash_rev_duration_seconds, 0.01, 15",
    "etcd_snap_db_fsync_duration_seconds, 0.001, 14",
    "etcd_snap_db_save_total_duration_seconds, 0.1, 10",
    "etcd_snap_fsync_duration_seconds, 0.001, 14"
  })
  void bucketsAreExponential(String name, double start, int count) {
    List<Double> bounds =
        metrics().series(name + "_bucket").keySet().stream()
            .map(labels -> labels.get("le"))
            .filter(le -> !le.equals("+Inf"))
            .map(Double::valueOf)
            .sorted()
            .toList();
    assertThat(bounds)
        .usingComparatorForType(
            (a, b) -> Math.abs(a - b) < 1e-9 * b ? 0 : a.compareTo(b), Double.class)
        .isEqualTo(IntStream.range(0, count).mapToObj(i -> start * Math.pow(2, i)).toList());
  }

  @Test
  void methodCountersStartAtZero_ME1() {
    MetricsText metrics = metrics();
    Set<String> expected =
        RpcProto.getDescriptor().getServices().stream()
            .flatMap(service -> service.getMethods().stream())
            .map(method -> method.getService().getFullName() + "/" + method.getName())
            .collect(Collectors.toCollection(TreeSet::new));
    expected.addAll(
        List.of(
            "grpc.health.v1.Health/Check",
            "grpc.health.v1.Health/List",
            "grpc.health.v1.Health/Watch"));
    Set<String> started =
        metrics.series("grpc_server_started_total").keySet().stream()
            .map(labels -> labels.get("grpc_service") + "/" + labels.get("grpc_method"))
            .collect(Collectors.toCollection(TreeSet::new));
    assertThat(started).containsAll(expected);
    Map<String, Long> codes =
        metrics.series("grpc_server_handled_total").keySet().stream()
            .collect(
                Collectors.groupingBy(
                    labels -> labels.get("grpc_service") + "/" + labels.get("grpc_method"),
                    TreeMap::new,
                    Collectors.counting()));
    assertThat(codes.keySet()).containsAll(expected);
    assertThat(codes.values()).containsOnly(17L);
    assertThat(types(metrics, "etcdserverpb.Watch")).containsExactly("bidi_stream");
    assertThat(types(metrics, "etcdserverpb.KV")).containsExactly("server_stream", "unary");
  }

  private static Set<String> types(MetricsText metrics, String service) {
    return metrics.series("grpc_server_started_total").keySet().stream()
        .filter(labels -> service.equals(labels.get("grpc_service")))
        .map(labels -> labels.get("grpc_type"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The series of a peer start with the first transfer, as in etcd. */
  @Test
  void singleMemberHasNoPeerMetrics() {
    assertThat(metrics().types().keySet())
        .noneMatch(name -> name.startsWith("etcd_network_snapshot_"))
        .doesNotContain(
            "etcd_server_learner_promote_failures", "etcd_network_peer_received_failures_total");
  }

  @Test
  void metricsAgreeWithStatus() {
    StatusResponse status = client.call(Api.STATUS, StatusRequest.getDefaultInstance());
    MetricsText metrics = metrics();
    String id = Long.toHexString(status.getHeader().getMemberId());
    assertThat(metrics.value("etcd_server_has_leader")).isEqualTo(1);
    assertThat(metrics.value("etcd_server_is_leader")).isEqualTo(1);
    assertThat(metrics.value("etcd_server_is_learner")).isZero();
    assertThat(metrics.value("etcd_server_leader_changes_seen_total")).isEqualTo(1);
    assertThat(metrics.value("etcd_server_id", "server_id", id)).isEqualTo(1);
    assertThat(metrics.value("etcd_server_version", "server_version", "3.7.1")).isEqualTo(1);
    assertThat(metrics.value("etcd_cluster_version", "cluster_version", "3.7")).isEqualTo(1);
    assertThat(metrics.value("etcd_server_quota_backend_bytes"))
        .isEqualTo((double) status.getDbSizeQuota());
    assertThat(metrics.value("etcd_mvcc_db_total_size_in_bytes"))
        .isCloseTo((double) status.getDbSize(), within(1e6));
    assertThat(metrics.value("process_resident_memory_bytes")).isGreaterThan(1e7);
  }

  @Test
  void healthAndItsChecksAreCounted() {
    http.get("/readyz");
    http.get("/health");
    MetricsText before = metrics();
    http.get("/health");
    http.get("/readyz");
    MetricsText after = metrics();
    assertThat(moved(before, after, "etcd_server_health_success")).isEqualTo(1);
    assertThat(after.value("etcd_server_health_failures")).isZero();
    assertThat(
            moved(
                before,
                after,
                "etcd_server_healthchecks_total",
                "type",
                "readyz",
                "name",
                "linearizable_read",
                "status",
                "success"))
        .isEqualTo(1);
    assertThat(after.value("etcd_server_healthcheck", "type", "readyz", "name", "non_learner"))
        .isEqualTo(1);
  }

  @Test
  void openMetricsIsUsedOnlyIfClientAcceptsNothingElse() {
    String prometheus =
        "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
    assertThat(http.get("/metrics", "Accept", prometheus).headers().firstValue("content-type"))
        .as("the names are those of the text form")
        .hasValueSatisfying(type -> assertThat(type).startsWith("text/plain; version=0.0.4"));
    HttpResponse<String> open =
        http.get("/metrics", "Accept", "application/openmetrics-text;version=1.0.0");
    assertThat(open.headers().firstValue("content-type").orElse(""))
        .startsWith("application/openmetrics-text; version=1.0.0");
    assertThat(open.body()).endsWith("# EOF\n").contains("# TYPE etcd_mvcc_put counter");
    assertThat(http.post("/metrics", "").statusCode()).isEqualTo(200);
  }

  @Test
  void metricsAreCompressedIfClientAcceptsGzip() throws IOException {
    HttpResponse<byte[]> packed =
        HttpClient.newHttpClient()
            .sendAsync(
                HttpRequest.newBuilder(URI.create("http://" + STORE.target() + "/metrics"))
                    .version(HttpClient.Version.HTTP_1_1)
                    .header("Accept-Encoding", "gzip")
                    .build(),
                HttpResponse.BodyHandlers.ofByteArray())
            .join();
    assertThat(packed.headers().firstValue("content-encoding")).hasValue("gzip");
    byte[] text = new GZIPInputStream(new ByteArrayInputStream(packed.body())).readAllBytes();
    assertThat(new String(text, StandardCharsets.UTF_8)).contains("etcd_server_has_leader 1");
    assertThat(packed.body().length).isLessThan(text.length / 5);
  }

  /** Decision 0277. */
  @Test
  void rangesOfNewestRecordsAreReadFromMemory() {
    String key = STORE.key("recent");
    client.put(key, "1");
    long revision = client.put(key, "2").getHeader().getRevision();
    double ranges = metrics().value("etcd_mvcc_range_total");
    double inMemory = metrics().value("troupe_ranges_in_memory_total");
    assertThat(client.range(Requests.get(key).setSerializable(true)).getCount()).isEqualTo(1);
    assertThat(metrics().value("troupe_ranges_in_memory_total")).isEqualTo(inMemory + 1);
    assertThat(metrics().value("etcd_mvcc_range_total")).isEqualTo(ranges + 1);
    client.range(Requests.get(key).setSerializable(true).setRevision(revision - 1));
    assertThat(metrics().value("troupe_ranges_in_memory_total"))
        .as("an older version is not the newest record")
        .isEqualTo(inMemory + 1);
    assertThat(metrics().value("etcd_mvcc_range_total")).isEqualTo(ranges + 2);
  }

  /** A member that is alone knows itself; removed ones would be 0. */
  @Test
  void singleMemberReportsMembersAndLiveKeys() {
    String self =
        metrics().series("etcd_server_id").keySet().iterator().next().getOrDefault("server_id", "");
    assertThat(metrics().value("etcd_network_known_peers", "Local", self, "Remote", self))
        .isEqualTo(1);
    String key = STORE.key("counted");
    double before = metrics().value("etcd_debugging_mvcc_keys_total");
    client.put(key, "1");
    client.put(key, "2");
    assertThat(metrics().value("etcd_debugging_mvcc_keys_total")).isEqualTo(before + 1);
    assertThat(metrics().value("troupe_key_blocks")).isPositive();
    assertThat(metrics().value("troupe_key_blocks_bytes")).isPositive();
    assertThat(metrics().value("troupe_key_block_corrections_total")).isZero();
    client.delete(Requests.delete(key));
    assertThat(metrics().value("etcd_debugging_mvcc_keys_total")).isEqualTo(before);
  }
}
