package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.grpc.api.DowngradeRequest.DowngradeAction;
import io.troupe.tests.process.HeapIndependent;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * Three members under load are upgraded by one minor version and downgraded again, one at a time
 * (V4, V5). The checks of the campaign follow: the history is linearizable, watches lose nothing,
 * all members are equal.
 */
@Tag("full")
@HeapIndependent
class RollingUpgradeIT {
  private static final String OLD = "3.6.16";
  private static final String NEW = "3.7.1";

  /** The load continues for that long after each step. */
  private static final long STEP_MS = 1000;

  private final Scenario scenario;

  RollingUpgradeIT(TestInfo test) throws Exception {
    scenario = new Scenario(test);
  }

  @AfterEach
  void removeFiles() throws Exception {
    scenario.close();
  }

  @Test
  void threeMembersGoUpAndDownWithoutFailedRead_V4_V5() throws Exception {
    TestCluster made =
        new TestCluster(
            scenario.directory(),
            3,
            3,
            scenario.random(),
            Map.of("acts-as-version", OLD, "downgrade-check-time", "1s"),
            Map.of());
    scenario.run(
        made,
        (cluster, history) -> {
          ClusterVersionCalls versions = new ClusterVersionCalls(cluster);
          try (RepeatedReads reads = new RepeatedReads(cluster)) {
            versions.awaitStorage("3.6.0");
            up(cluster, versions, history);
            down(cluster, versions, history);
            assertThat(reads.failures()).isEmpty();
            assertThat(reads.answered()).isGreaterThan(100);
          }
        });
  }

  private static void up(
      TestCluster cluster, ClusterVersionCalls versions, ClusterHistory history) {
    replace(cluster, versions, history, 1, NEW);
    replace(cluster, versions, history, 2, NEW);
    // The mixed cluster works as the old version, and a member can go back.
    assertThat(versions.now()).containsExactly(NEW + "/3.6.0", NEW + "/3.6.0", OLD + "/3.6.0");
    replace(cluster, versions, history, 2, OLD);
    replace(cluster, versions, history, 2, NEW);
    replace(cluster, versions, history, 3, NEW);
    versions.awaitStorage("3.7.0");
  }

  private static void down(
      TestCluster cluster, ClusterVersionCalls versions, ClusterHistory history) {
    assertThat(versions.downgrade(1, DowngradeAction.VALIDATE, "3.6")).isEqualTo("3.7");
    versions.downgrade(2, DowngradeAction.ENABLE, "3.6");
    versions.awaitStorage("3.6.0");
    replace(cluster, versions, history, 1, OLD);
    replace(cluster, versions, history, 2, OLD);
    versions.awaitDowngrade("3.6.0");
    replace(cluster, versions, history, 3, OLD);
    versions.awaitDowngrade("");
    Scenario.elapse(history, STEP_MS);
    assertThat(versions.now()).containsOnly(OLD + "/3.6.0");
  }

  private static void replace(
      TestCluster cluster,
      ClusterVersionCalls versions,
      ClusterHistory history,
      int member,
      String version) {
    cluster.terminate(member);
    cluster.start(member, "-Dtroupe.acts-as-version=" + version);
    cluster.awaitReady(member);
    versions.awaitServer(member, version);
    Scenario.elapse(history, STEP_MS);
  }
}
