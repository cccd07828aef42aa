package io.troupe.tests.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import io.troupe.grpc.api.MemberPromoteRequest;
import java.nio.file.Path;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A learner joins a member with a truncated log, so it receives a snapshot; then it is promoted.
 */
class LearnerMetricsTest {
  private static final String NOT_READY =
      "etcdserver: can only promote a learner member which is in sync with leader";

  private static MetricsText metrics(LearnerCluster cluster, int number) {
    return MetricsText.of(cluster.http(number).get("/metrics").body());
  }

  private static MemberPromoteRequest promotion(long id) {
    return MemberPromoteRequest.newBuilder().setID(id).build();
  }

  private static double saved(MetricsText metrics) {
    return metrics.value("etcd_debugging_snap_save_total_duration_seconds_count");
  }

  @Test
  void snapshotTransferAndPromotionAreCounted(@TempDir Path directory) throws Exception {
    try (LearnerCluster cluster = new LearnerCluster(directory)) {
      ApiClient client = cluster.client(0);
      long leader = client.put("k", "v").getHeader().getMemberId();
      for (int i = 0; i < 100; i++) {
        client.put("k" + i, "v");
      }
      ServedStore.await().until(() -> saved(metrics(cluster, 0)) > 0);
      long id = cluster.addLearner(client);
      client.refused(Api.MEMBER_PROMOTE, promotion(id), Code.FAILED_PRECONDITION, NOT_READY);
      MetricsText before = metrics(cluster, 0);
      assertThat(before.value("etcd_server_learner_promote_failures", "Reason", NOT_READY))
          .isEqualTo(1);
      assertThat(before.value("etcd_server_learner_promote_successes")).isZero();
      cluster.startLearner();
      String to = Long.toHexString(id);
      String from = Long.toHexString(leader);
      ServedStore.await()
          .untilAsserted(
              () -> {
                MetricsText sender = metrics(cluster, 0);
                assertThat(sender.value("etcd_network_snapshot_send_success", "To", to))
                    .isPositive();
                assertThat(sender.value("etcd_network_snapshot_send_inflights_total", "To", to))
                    .isZero();
                assertThat(
                        sender.value(
                            "etcd_network_snapshot_send_total_duration_seconds_count", "To", to))
                    .isPositive();
              });
      MetricsText receiver = metrics(cluster, 1);
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
      MetricsText after = metrics(cluster, 0);
      assertThat(after.value("etcd_server_learner_promote_successes")).isEqualTo(1);
      assertThat(metrics(cluster, 1).value("etcd_server_learner_promote_successes"))
          .as("only the leader counts")
          .isZero();
      client.refused(
          Api.MEMBER_PROMOTE,
          promotion(id),
          Code.FAILED_PRECONDITION,
          "etcdserver: can only promote a learner member");
      assertThat(
              metrics(cluster, 0)
                  .value(
                      "etcd_server_learner_promote_failures",
                      "Reason",
                      "membership: can only promote a learner member"))
          .isEqualTo(1);
    }
  }
}
