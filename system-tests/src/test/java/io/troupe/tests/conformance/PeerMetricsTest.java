package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.testing.FreePort;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Metrics of section 6.1 that need a peer: two members in this process. */
class PeerMetricsTest {
  private final int[] peers = {FreePort.next(), FreePort.next()};
  private final int[] clients = {FreePort.next(), FreePort.next()};

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  private RunningNode start(Path directory, int number) {
    Config config =
        TestConfig.of(
            Map.of(
                "troupe.name", "n" + number,
                "troupe.data-dir", directory.resolve("n" + number).toString(),
                "troupe.listen-client-urls", url(clients[number]),
                "troupe.listen-peer-urls", url(peers[number]),
                "troupe.initial-advertise-peer-urls", url(peers[number]),
                "troupe.initial-cluster", "n0=" + url(peers[0]) + ",n1=" + url(peers[1])));
    return RunningNode.start(config, failure -> {});
  }

  private MetricsText metrics(int number) {
    return MetricsText.of(new Http1("127.0.0.1:" + clients[number]).get("/metrics").body());
  }

  private static String id(MetricsText metrics) {
    return metrics
        .series("etcd_server_id")
        .keySet()
        .iterator()
        .next()
        .getOrDefault("server_id", "");
  }

  private static double of(MetricsText metrics, String name, String label, String id) {
    return metrics.series(name).getOrDefault(Map.of(label, id), 0.0);
  }

  @Tag("full")
  @Test
  void peerTrafficIsCountedByMemberId(@TempDir Path directory) throws Exception {
    ExecutorService starting = Executors.newFixedThreadPool(2);
    RunningNode second = null;
    try {
      CompletableFuture<RunningNode> one =
          CompletableFuture.supplyAsync(() -> start(directory, 1), starting);
      try (RunningNode first = start(directory, 0)) {
        second = one.get(60, TimeUnit.SECONDS);
        first.awaitReady();
        second.awaitReady();
        String firstId = id(metrics(0));
        String other = id(metrics(1));
        ServedStore.await()
            .untilAsserted(
                () -> {
                  MetricsText seen = metrics(0);
                  assertThat(of(seen, "etcd_network_peer_sent_bytes_total", "To", other))
                      .isGreaterThan(100);
                  assertThat(of(seen, "etcd_network_peer_received_bytes_total", "From", other))
                      .isGreaterThan(100);
                  assertThat(
                          of(seen, "etcd_network_peer_round_trip_time_seconds_count", "To", other))
                      .isPositive();
                  assertThat(
                          seen.value(
                              "etcd_network_active_peers", "Local", firstId, "Remote", other))
                      .isEqualTo(1);
                  assertThat(
                          seen.value("etcd_network_known_peers", "Local", firstId, "Remote", other))
                      .isEqualTo(1);
                });
        double failures = of(metrics(0), "etcd_network_peer_sent_failures_total", "To", other);
        second.close();
        ServedStore.await()
            .untilAsserted(
                () -> {
                  MetricsText alone = metrics(0);
                  assertThat(of(alone, "etcd_network_peer_sent_failures_total", "To", other))
                      .isGreaterThan(failures);
                  assertThat(
                          alone.value(
                              "etcd_network_disconnected_peers_total",
                              "Local",
                              firstId,
                              "Remote",
                              other))
                      .isEqualTo(1);
                  assertThat(alone.value("etcd_server_has_leader")).isZero();
                });
        Http1 http = new Http1("127.0.0.1:" + clients[0]);
        assertThat(http.get("/health").body())
            .isEqualTo("{\"health\":\"false\",\"reason\":\"RAFT NO LEADER\"}\n");
        assertThat(http.get("/livez").statusCode()).isEqualTo(200);
        assertThat(http.get("/readyz").body())
            .contains("[-]linearizable_read failed: etcdserver: request timed out\n")
            .contains("[+]serializable_read ok\n")
            .endsWith("\n\n");
        assertThat(
                http.post("/v3/kv/range", "{\"key\":\"AA==\"}", "Grpc-Metadata-hasleader", "true")
                    .body())
            .isEqualTo("{\"code\":14,\"message\":\"etcdserver: no leader\"}");
        assertThat(
                metrics(0)
                    .value(
                        "grpc_server_handled_total",
                        "grpc_type",
                        "unary",
                        "grpc_service",
                        "etcdserverpb.KV",
                        "grpc_method",
                        "Range",
                        "grpc_code",
                        "Unavailable"))
            .as("the rejected member is counted")
            .isEqualTo(1);
      }
    } finally {
      if (second != null) {
        second.close();
      }
      starting.shutdown();
    }
  }
}
