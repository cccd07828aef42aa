package io.troupe.tests.conformance;

import static io.troupe.tests.conformance.MetricsText.moved;
import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Status.Code;
import io.troupe.grpc.api.AuthRoleAddRequest;
import io.troupe.grpc.api.HashKVRequest;
import io.troupe.grpc.api.HashRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Section 6, metrics of maintenance: expiry, compaction, hashes, users, features. */
class UpkeepMetricsConformanceTest {
  @RegisterExtension static final ServedStore STORE = ServedStore.create();

  private final ApiClient client = STORE.client();

  private static MetricsText metrics() {
    return MetricsText.of(new Http1(STORE.target()).get("/metrics").body());
  }

  /** A revoked lease has not expired. */
  @Test
  void expiredAndRevokedLeasesAreCountedSeparately() {
    MetricsText before = metrics();
    client.revoke(client.grant(60).getID());
    client.grant(1);
    ServedStore.await()
        .untilAsserted(
            () -> {
              MetricsText after = metrics();
              assertThat(moved(before, after, "etcd_debugging_server_lease_expired_total"))
                  .isEqualTo(1);
              assertThat(moved(before, after, "etcd_debugging_lease_revoked_total")).isEqualTo(2);
            });
  }

  @Test
  void compactionIsMeasured() {
    for (int i = 0; i < 6; i++) {
      client.put(STORE.key("versions"), "v" + i);
    }
    String compaction = "etcd_debugging_mvcc_db_compaction_";
    MetricsText before = metrics();
    double began = Math.floor(System.currentTimeMillis() / 1000.0);
    client.compact((long) before.value("etcd_debugging_mvcc_current_revision"));
    ServedStore.await()
        .untilAsserted(
            () -> {
              MetricsText after = metrics();
              assertThat(moved(before, after, compaction + "keys_total"))
                  .as("all but the last version, and those of other tests")
                  .isGreaterThanOrEqualTo(5);
              assertThat(moved(before, after, compaction + "total_duration_milliseconds_count"))
                  .isEqualTo(1);
              assertThat(moved(before, after, compaction + "pause_duration_milliseconds_count"))
                  .isPositive();
              assertThat(after.value(compaction + "last"))
                  .isBetween(began, System.currentTimeMillis() / 1000.0);
            });
  }

  @Test
  void hashesAreMeasuredByMethod() {
    client.put(STORE.key("hashed"), "1");
    MetricsText before = metrics();
    client.call(Api.HASH, HashRequest.getDefaultInstance());
    MetricsText hashed = metrics();
    assertThat(moved(before, hashed, "etcd_mvcc_hash_duration_seconds_count")).isEqualTo(1);
    assertThat(moved(before, hashed, "etcd_mvcc_hash_rev_duration_seconds_count")).isZero();
    client.call(Api.HASH_KV, HashKVRequest.getDefaultInstance());
    client.refused(
        Api.HASH_KV,
        HashKVRequest.newBuilder().setRevision(Long.MAX_VALUE).build(),
        Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
    MetricsText after = metrics();
    assertThat(moved(hashed, after, "etcd_mvcc_hash_duration_seconds_count")).isZero();
    assertThat(moved(hashed, after, "etcd_mvcc_hash_rev_duration_seconds_count"))
        .as("the refused one made no hash")
        .isEqualTo(1);
  }

  @Test
  void authRevisionIsReported() {
    MetricsText before = metrics();
    assertThat(before.value("etcd_debugging_auth_revision")).as("A7").isPositive();
    client.call(AuthClient.ROLE_ADD, AuthRoleAddRequest.newBuilder().setName("metered").build());
    assertThat(moved(before, metrics(), "etcd_debugging_auth_revision")).isEqualTo(1);
  }

  @Test
  void featuresAreReportedWithStages() {
    MetricsText metrics = metrics();
    assertThat(metrics.series("etcd_server_feature_enabled")).hasSize(11);
    String name = "etcd_server_feature_enabled";
    assertThat(metrics.value(name, "name", "FastLeaseKeepAlive", "stage", "BETA")).isEqualTo(1);
    assertThat(metrics.value(name, "name", "AllBeta", "stage", "BETA")).isZero();
    assertThat(metrics.value(name, "name", "InitialCorruptCheck", "stage", "ALPHA")).isZero();
    assertThat(metrics.value(name, "name", "AllAlpha", "stage", "ALPHA")).isZero();
  }
}
