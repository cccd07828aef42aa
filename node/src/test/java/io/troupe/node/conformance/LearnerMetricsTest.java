package io.troupe.node.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.troupe.grpc.api.MemberAddRequest;
import io.troupe.grpc.api.MemberPromoteRequest;
import io.troupe.node.RunningNode;
import io.troupe.node.TestConfig;
import io.troupe.testing.FreePort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A learner joins a member whose log is let go of, so it gets a snapshot, and is promoted. */
class LearnerMetricsTest {
  private static final String NOT_READY =
      "etcdserver: can only promote a learner member which is in sync with leader";

  private final int[] peers = {FreePort.next(), FreePort.next()};
  private final int[] clients = {FreePort.next(), FreePort.next()};

  private static String url(int port) {
    return "http://127.0.0.1:" + port;
  }

  private RunningNode start(Path directory, int number, String cluster, String state) {
    Config config =
        TestConfig.of(
            Map.of(
                "troupe.name",
                "n" + number,
                "troupe.data-dir",
                directory.resolve("n" + number).toString(),
                "troupe.listen-client-urls",
                url(clients[number]),
                "troupe.listen-peer-urls",
                url(peers[number]),
                "troupe.initial-advertise-peer-urls",
                url(peers[number]),
                "troupe.initial-cluster",
                cluster,
                "troupe.initial-cluster-state",
                state,
                "troupe.snapshot-count",
                "10"));
    return RunningNode.start(config, failure -> {});
  }

  private MetricsText metrics(int number) {
    return MetricsText.of(new Http1("127.0.0.1:" + clients[number]).get("/metrics").body());
  }

  private static MemberPromoteRequest promotion(long id) {
    return MemberPromoteRequest.newBuilder().setID(id).build();
  }

  private static double saved(MetricsText metrics) {
    return metrics.value("etcd_debugging_snap_save_total_duration_seconds_count");
  }

  @Test
  void aSnapshotBetweenMembersAndAPromotionAreCounted(@TempDir Path directory) throws Exception {
    String alone = "n0=" + url(peers[0]);
    try (RunningNode first = start(directory, 0, alone, "new");
        ApiClient client = new ApiClient("127.0.0.1:" + clients[0])) {
      first.awaitReady();
      long leader = client.put("k", "v").getHeader().getMemberId();
      for (int i = 0; i < 100; i++) {
        client.put("k" + i, "v");
      }
      ServedStore.await().until(() -> saved(metrics(0)) > 0);
      long id =
          client
              .call(
                  Api.MEMBER_ADD,
                  MemberAddRequest.newBuilder()
                      .addPeerURLs(url(peers[1]))
                      .setIsLearner(true)
                      .build())
              .getMember()
              .getID();
      client.refused(Api.MEMBER_PROMOTE, promotion(id), Code.FAILED_PRECONDITION, NOT_READY);
      MetricsText before = metrics(0);
      assertThat(before.value("etcd_server_learner_promote_failures", "Reason", NOT_READY))
          .isEqualTo(1);
      assertThat(before.value("etcd_server_learner_promote_successes")).isZero();
      try (RunningNode second = start(directory, 1, alone + ",n1=" + url(peers[1]), "existing")) {
        second.awaitReady();
        String to = Long.toHexString(id);
        String from = Long.toHexString(leader);
        ServedStore.await()
            .untilAsserted(
                () -> {
                  MetricsText sender = metrics(0);
                  assertThat(sender.value("etcd_network_snapshot_send_success", "To", to))
                      .isPositive();
                  assertThat(sender.value("etcd_network_snapshot_send_inflights_total", "To", to))
                      .isZero();
                  assertThat(
                          sender.value(
                              "etcd_network_snapshot_send_total_duration_seconds_count", "To", to))
                      .isPositive();
                });
        MetricsText receiver = metrics(1);
        double received = receiver.value("etcd_network_snapshot_receive_success", "From", from);
        assertThat(received).isPositive();
        assertThat(receiver.value("etcd_network_snapshot_receive_inflights_total", "From", from))
            .isZero();
        assertThat(
                receiver.value(
                    "etcd_network_snapshot_receive_total_duration_seconds_count", "From", from))
            .isEqualTo(received);
        assertThat(receiver.value("etcd_snap_db_save_total_duration_seconds_count"))
            .isEqualTo(received);
        assertThat(receiver.value("etcd_snap_db_fsync_duration_seconds_count"))
            .as("a snapshot has several files")
            .isGreaterThan(received);
        assertThat(receiver.value("etcd_server_snapshot_apply_in_progress_total")).isZero();
        Awaitility.await()
            .atMost(Duration.ofSeconds(20))
            .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
            .until(
                () ->
                    client.call(Api.MEMBER_PROMOTE, promotion(id)).getMembersList().stream()
                        .noneMatch(member -> member.getIsLearner()));
        MetricsText after = metrics(0);
        assertThat(after.value("etcd_server_learner_promote_successes")).isEqualTo(1);
        assertThat(metrics(1).value("etcd_server_learner_promote_successes"))
            .as("only who leads counts")
            .isZero();
        client.refused(
            Api.MEMBER_PROMOTE,
            promotion(id),
            Code.FAILED_PRECONDITION,
            "etcdserver: can only promote a learner member");
        assertThat(
                metrics(0)
                    .value(
                        "etcd_server_learner_promote_failures",
                        "Reason",
                        "membership: can only promote a learner member"))
            .isEqualTo(1);
      }
    }
  }
}
