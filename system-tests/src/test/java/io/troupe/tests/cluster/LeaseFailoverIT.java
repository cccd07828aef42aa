package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Leases of a cluster through any member and across leader changes (L4, L6, L7, L11). */
@Clusters
@Tag("full")
@HeapIndependent
class LeaseFailoverIT {
  private static final ObjectMapper JSON = new ObjectMapper();

  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "leases-"));
    cluster.startNew("n1", "n2", "n3");
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private String grant(String via, int seconds) {
    return cluster.run(via, "lease", "grant", "" + seconds).split(" ", -1)[1];
  }

  private JsonNode timeToLive(String via, String lease) throws IOException {
    return JSON.readTree(cluster.run(via, "lease", "timetolive", lease, "--keys", "-w", "json"));
  }

  @Test
  void followerForwardsRenewalsAndTimeToLiveToLeader_L6_L7() throws IOException {
    String follower = cluster.awaitFollower();
    String lease = grant(follower, 300);
    cluster.run(follower, "put", "k", "v", "--lease=" + lease);
    assertThat(cluster.run(follower, "lease", "keep-alive", "--once", lease))
        .isEqualTo("lease " + lease + " keepalived with TTL(300)\n");
    JsonNode told = timeToLive(follower, lease);
    assertThat(told.get("ttl").asLong()).isBetween(200L, 300L);
    assertThat(told.get("granted-ttl").asLong()).isEqualTo(300);
    assertThat(told.get("keys")).hasSize(1);
    assertThat(cluster.run(follower, "lease", "timetolive", "1234")).contains("already expired");
  }

  /** A lease that is renewed through followers keeps its key under every leader. */
  @Test
  void renewedLeaseSurvivesLeaderKills_L11() throws InterruptedException {
    String first = cluster.awaitLeader();
    String owner = cluster.awaitFollower();
    String lease = grant(owner, 5);
    cluster.run(owner, "put", "k", "v", "--lease=" + lease);
    try (NodeProcess keepAlive = cluster.etcdctl(owner, "lease", "keep-alive", lease)) {
      ProcessCluster.await("renewals").until(() -> keepAlive.out().contains("TTL(5)"));
      cluster.process(first).kill();
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(12);
      // Longer than two TTLs; renewals continue throughout.
      while (System.nanoTime() - end < 0) {
        assertThat(cluster.run(owner, "get", "k", "--consistency=s", "--print-value-only"))
            .isEqualTo("v\n");
      }
      assertThat(keepAlive.isAlive()).as("%s", keepAlive).isTrue();
    }
    ProcessCluster.await("the end of the lease")
        .until(() -> cluster.run(owner, "get", "k", "--consistency=s").isEmpty());
  }

  /** Without renewals the next leader grants at least the remaining TTL. */
  @Test
  void unrenewedLeaseKeepsItsTtlAndExpires_L4_L11() {
    String first = cluster.awaitLeader();
    String other = cluster.awaitFollower();
    long granted = System.nanoTime();
    String lease = grant(other, 8);
    cluster.run(other, "put", "k", "v", "--lease=" + lease);
    cluster.process(first).kill();
    ProcessCluster.await("the end of the lease")
        .until(() -> cluster.run(other, "get", "k", "--consistency=s").isEmpty());
    assertThat(System.nanoTime() - granted).isGreaterThan(TimeUnit.SECONDS.toNanos(8));
  }

  /**
   * A leader that was paused does not know the new leader. It must neither renew nor expire leases.
   */
  @Test
  void deposedLeaderNeitherRenewsNorExpiresLeases_L6() throws IOException {
    String old = cluster.awaitLeader();
    String other = cluster.awaitFollower();
    String lease = grant(other, 6);
    cluster.run(other, "put", "k", "v", "--lease=" + lease);
    try (NodeProcess keepAlive = cluster.etcdctl(other, "lease", "keep-alive", lease)) {
      cluster.process(old).pause();
      ProcessCluster.await("another leader")
          .until(() -> !cluster.leader(other).equals(old) && !cluster.leader(other).isEmpty());
      // Time after which the old leader would have expired the lease.
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(8);
      while (System.nanoTime() - end < 0) {
        cluster.run(other, "get", "k");
      }
      cluster.process(old).resume();
      // The status now comes from the current leader.
      assertThat(cluster.run(old, "lease", "keep-alive", "--once", lease)).contains("TTL(6)");
      assertThat(cluster.run(other, "get", "k", "--print-value-only")).isEqualTo("v\n");
      assertThat(cluster.awaitLeader()).isNotEqualTo(old);
      assertThat(keepAlive.isAlive()).isTrue();
    }
  }
}
