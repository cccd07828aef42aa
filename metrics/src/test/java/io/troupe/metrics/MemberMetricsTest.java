package io.troupe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.RpcMetrics.MethodMeter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Output of the counted values. */
class MemberMetricsTest {
  private static final List<String> CODES = List.of("OK", "Canceled", "Unknown", "InvalidArgument");

  private final MemberMetrics metrics = new MemberMetrics();

  private List<String> text() {
    return new String(metrics.text(), StandardCharsets.UTF_8).lines().toList();
  }

  private List<String> open() {
    return new String(metrics.openMetrics(), StandardCharsets.UTF_8).lines().toList();
  }

  @Test
  void familiesWithoutLabelsStartAtZero() {
    assertThat(text())
        .contains(
            "# TYPE etcd_server_leader_changes_seen_total counter",
            "etcd_server_leader_changes_seen_total 0.0",
            "etcd_server_proposals_pending 0.0",
            "etcd_disk_wal_fsync_duration_seconds_count 0",
            "etcd_server_health_success 0.0");
  }

  /** ME3. */
  @Test
  void gaugesKeepTheirTypeAlthoughTheirNameEndsInTotal() {
    metrics.gauge("etcd_server_proposals_applied_total", "Highest applied index.", () -> 7);
    assertThat(text())
        .containsSubsequence(
            "# HELP etcd_server_proposals_applied_total Highest applied index.",
            "# TYPE etcd_server_proposals_applied_total gauge",
            "etcd_server_proposals_applied_total 7.0");
  }

  @Test
  void counterSuffixIsOmittedInTextAndPresentInOpenMetrics() {
    metrics.health().health(true);
    assertThat(text())
        .containsSubsequence(
            "# HELP etcd_server_health_success Successful responses of /health.",
            "# TYPE etcd_server_health_success counter",
            "etcd_server_health_success 1.0");
    assertThat(open())
        .contains(
            "# TYPE etcd_server_health_success counter", "etcd_server_health_success_total 1.0")
        .endsWith("# EOF");
  }

  @Test
  void unreadableValueHidesNoOtherValue() {
    metrics.gauge(
        "troupe_broken",
        "Never there.",
        () -> {
          throw new IllegalStateException("closed");
        });
    metrics.gauges(
        "troupe_half",
        "Half there.",
        target -> {
          target.value(1, "first");
          throw new IllegalStateException("closed");
        },
        "which");
    assertThat(text())
        .contains("troupe_broken NaN", "troupe_half{which=\"first\"} 1.0")
        .contains("etcd_server_proposals_failed_total 0.0");
  }

  @Test
  void labelsAreEscaped() {
    metrics.gauges("troupe_x", "X.", target -> target.value(1, "a\"b\\c\nd"), "name");
    assertThat(text()).contains("troupe_x{name=\"a\\\"b\\\\c\\nd\"} 1.0");
  }

  @Test
  void methodIsCountedByStatusCode() {
    MethodMeter put = metrics.rpc().method("unary", "etcdserverpb.KV", "Put", CODES);
    metrics.beforeFirstLook(put::showAll);
    put.started();
    put.received(10);
    put.sent(1, 20);
    put.ended(0, 2_000_000);
    put.ended(3, 1);
    put.ended(99, 1);
    String labels = "{grpc_method=\"Put\",grpc_service=\"etcdserverpb.KV\",grpc_type=\"unary\"}";
    String ofCode = "grpc_server_handled_total{grpc_code=\"%s\"," + labels.substring(1) + " %s";
    assertThat(text())
        .contains(
            "grpc_server_started_total" + labels + " 1.0",
            ofCode.formatted("OK", "1.0"),
            ofCode.formatted("InvalidArgument", "1.0"),
            ofCode.formatted("Unknown", "1.0"),
            ofCode.formatted("Canceled", "0.0"),
            "etcd_network_client_grpc_received_bytes_total 10.0",
            "etcd_network_client_grpc_sent_bytes_total 20.0",
            "etcd_server_request_duration_seconds_bucket{success=\"true\",type=\"Put\",le=\"0.001\"} 0",
            "etcd_server_request_duration_seconds_bucket{success=\"true\",type=\"Put\",le=\"0.002\"} 1")
        .noneMatch(line -> line.startsWith("grpc_server_handling_seconds"));
  }

  /** As counted by an interceptor that runs before the others. */
  @Test
  void rejectedCallIsCountedButIsNoRequest() {
    metrics.rpc().method("unary", "etcdserverpb.KV", "Put", CODES).refused(3);
    String labels = "grpc_method=\"Put\",grpc_service=\"etcdserverpb.KV\",grpc_type=\"unary\"}";
    assertThat(text())
        .contains(
            "grpc_server_started_total{" + labels + " 1.0",
            "grpc_server_handled_total{grpc_code=\"InvalidArgument\"," + labels + " 1.0",
            "etcd_server_request_duration_seconds_count{success=\"false\",type=\"Put\"} 0");
  }

  @Test
  void extensiveMetricsIncludeCallDurations() {
    MemberMetrics extensive = new MemberMetrics(true);
    extensive.rpc().method("unary", "etcdserverpb.KV", "Put", CODES).ended(0, 30_000_000);
    assertThat(new String(extensive.text(), StandardCharsets.UTF_8))
        .contains("grpc_service=\"etcdserverpb.KV\",grpc_type=\"unary\",le=\"0.05\"} 1");
  }

  /** Clients choose their version text. */
  @Test
  void versionsOfClientsAreBounded() {
    for (int i = 0; i < 1000; i++) {
      metrics.rpc().clientRequest(false, "v" + i);
    }
    metrics.rpc().clientRequest(true, "");
    List<String> series =
        text().stream()
            .filter(line -> line.startsWith("etcd_server_client_requests_total{"))
            .toList();
    assertThat(series)
        .hasSizeLessThan(40)
        .contains(
            "etcd_server_client_requests_total{client_api_version=\"v0\",type=\"unary\"} 1.0",
            "etcd_server_client_requests_total{client_api_version=\"other\",type=\"unary\"} 968.0",
            "etcd_server_client_requests_total{client_api_version=\"unknown\",type=\"stream\"} 1.0");
  }

  @Test
  void peersAreLabelledByHexId() {
    metrics.peers().known(0xabcL);
    metrics.peers().sent(0xabcL, 100);
    metrics.peers().roundTrip(0xabcL, 300_000);
    assertThat(text())
        .contains(
            "etcd_network_peer_sent_bytes_total{To=\"abc\"} 100.0",
            "etcd_network_peer_sent_failures_total{To=\"abc\"} 0.0",
            "etcd_network_peer_received_bytes_total{From=\"abc\"} 0.0",
            "etcd_network_peer_round_trip_time_seconds_bucket{To=\"abc\",le=\"4.0E-4\"} 1");
  }

  @Test
  void defragmentationIsVisibleWhileRunning() {
    metrics.disk().defragment(() -> assertThat(text()).contains("etcd_disk_defrag_inflight 1.0"));
    assertThat(text())
        .contains(
            "etcd_disk_defrag_inflight 0.0", "etcd_disk_backend_defrag_duration_seconds_count 1");
  }
}
