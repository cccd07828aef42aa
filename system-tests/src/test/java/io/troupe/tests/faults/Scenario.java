package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.StatusResponse;
import io.troupe.simulation.check.LinearizabilityCheck.Verdict;
import io.troupe.tests.faults.ClusterCampaign.Script;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.SplittableRandom;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.TestInfo;

/** Shared code of tests with one fault at a time: a separate directory, and waiting. */
final class Scenario implements AutoCloseable {
  /** Two election timeouts as followers draw them, and a busy machine. */
  static final Duration NEW_LEADER = Duration.ofSeconds(6);

  private static final long SEED = 11;

  private final Path directory;
  private boolean held;

  Scenario(TestInfo test) throws IOException {
    directory =
        Path.of("target", "cluster", test.getTestMethod().orElseThrow().getName()).toAbsolutePath();
    ClusterCampaignIT.remove(directory);
    Files.createDirectories(directory);
  }

  /** Its files; they stay after a failure. */
  Path directory() {
    return directory;
  }

  SplittableRandom random() {
    return new SplittableRandom(SEED);
  }

  /** Runs the script under load and checks everything afterwards. */
  void run(TestCluster cluster, Script script) throws Exception {
    ClusterCampaign.Figures figures =
        new ClusterCampaign(directory, SEED, cluster.size()).run(cluster, script);
    System.out.println(directory.getFileName() + " " + figures);
    assertThat(figures.verdict()).isEqualTo(Verdict.HOLDS);
    held = true;
  }

  /** Removes the files of a passed test; nothing may be mounted there any more. */
  @Override
  public void close() throws IOException {
    if (held) {
      ClusterCampaignIT.remove(directory);
    }
  }

  static void say(String what, long sinceNanos) {
    System.out.println(what + " after ms=" + (System.nanoTime() - sinceNanos) / 1_000_000);
  }

  /** The load continues for that long. */
  static void elapse(ClusterHistory history, long ms) {
    long until = history.nowUs() + ms * 1000;
    Awaitility.await("time for the load")
        .atMost(Duration.ofMillis(ms + 60_000))
        .until(() -> history.nowUs() >= until);
  }

  static StatusResponse status(TestCluster cluster, int member) {
    return cluster.calls(member).status(5000);
  }

  static long term(TestCluster cluster, int member) {
    return status(cluster, member).getRaftTerm();
  }

  /** Waits for acknowledged writes that began after that time. */
  static void awaitWrites(ClusterHistory history, long sinceUs, Duration timeout) {
    Awaitility.await("writes continue")
        .atMost(timeout)
        .pollInterval(Duration.ofMillis(20))
        .until(() -> history.acknowledgedSince(sinceUs) > 10);
  }

  /** The member follows that leader, and lags little. */
  static void awaitFollower(TestCluster cluster, int member, int leader) {
    Awaitility.await("member " + member + " follows " + leader)
        .atMost(Duration.ofSeconds(60))
        .pollInterval(Duration.ofMillis(50))
        .until(
            () -> {
              StatusResponse one = cluster.status(member);
              StatusResponse other = cluster.status(leader);
              return one != null
                  && other != null
                  && one.getLeader() == other.getHeader().getMemberId()
                  && one.getHeader().getRevision() + 100 >= other.getHeader().getRevision();
            });
  }
}
