package io.troupe.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.StatusResponse;
import io.troupe.node.cluster.ClusterCampaign.Script;
import io.troupe.simulation.check.LinearizabilityCheck.Verdict;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * One fault at a time under the campaign's load, with its bounds; the campaign's checks follow each
 * time. Letters are those of the list of challenges in docs/campaigns/README.md.
 */
class ClusterFaultsIT {
  private static final Duration NEW_LEADER = Duration.ofSeconds(6);
  private static final long SEED = 11;

  private final Path directory;

  ClusterFaultsIT(TestInfo test) throws Exception {
    directory =
        Path.of("target", "cluster", test.getTestMethod().orElseThrow().getName())
            .toAbsolutePath();
    ClusterCampaignIT.remove(directory);
    Files.createDirectories(directory);
  }

  @Test
  void challengeB_anIsolatedFollowerDisturbsNobody() throws Exception {
    run(
        TestCluster.of(directory, 3, new SplittableRandom(SEED)),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          int follower = cluster.without(Set.of(leader)).iterator().next();
          Set<Integer> others = cluster.without(Set.of(follower));
          long term = term(cluster, leader);
          cluster.network().split(Set.of(follower), others);
          elapse(history, 10_000);
          assertThat(history.longestSilenceUs())
              .as("longest time without an acknowledged write")
              .isLessThan(2_000_000);
          cluster.network().join(Set.of(follower), others, 0);
          awaitFollower(cluster, follower, leader);
          elapse(history, 3000);
          assertThat(term(cluster, leader)).as("nobody stood for election").isEqualTo(term);
          assertThat(cluster.leader()).isEqualTo(leader);
        });
  }

  @Test
  void challengeC_anIsolatedLeaderStopsServingAndComesBackAsAFollower() throws Exception {
    run(
        TestCluster.of(directory, 3, new SplittableRandom(SEED)),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          Set<Integer> others = cluster.without(Set.of(leader));
          cluster.network().split(Set.of(leader), others);
          long cut = System.nanoTime();
          Awaitility.await("it knows that it leads no more")
              .atMost(Duration.ofSeconds(4))
              .pollInterval(Duration.ofMillis(20))
              .until(() -> status(cluster, leader).getLeader() == 0);
          say("isolated leader stepped down", cut);
          int next = cluster.awaitLeaderAmong(others, NEW_LEADER);
          say("next leader", cut);
          elapse(history, 5000);
          long term = term(cluster, next);
          cluster.network().join(Set.of(leader), others, 0);
          awaitFollower(cluster, leader, next);
          elapse(history, 3000);
          assertThat(term(cluster, next)).as("no election when it came back").isEqualTo(term);
        });
  }

  @Test
  void aLeaderThatStandsStillForLongerThanLeasesLast() throws Exception {
    run(
        TestCluster.of(directory, 3, new SplittableRandom(SEED)),
        (cluster, history) -> {
          for (int round = 0; round < 3; round++) {
            int leader = cluster.awaitLeader();
            Set<Integer> others = cluster.without(Set.of(leader));
            cluster.pause(leader);
            long paused = System.nanoTime();
            int next = cluster.awaitLeaderAmong(others, NEW_LEADER);
            say("next leader", paused);
            elapse(history, 7000);
            cluster.resume(leader);
            awaitFollower(cluster, leader, next);
            elapse(history, 2000);
          }
        });
  }

  @Test
  void aHangingDiskUnderTheLeaderOfThree() throws Exception {
    try (LoopDisk one = disk(1);
        LoopDisk two = disk(2);
        LoopDisk three = disk(3)) {
      Map<Integer, LoopDisk> disks = Map.of(1, one, 2, two, 3, three);
      TestCluster made =
          new TestCluster(
              directory,
              3,
              3,
              new SplittableRandom(SEED),
              Map.of(),
              Map.of(1, one.data(), 2, two.data(), 3, three.data()));
      run(
          made,
          (cluster, history) -> {
            for (int round = 0; round < 3; round++) {
              int leader = cluster.awaitLeader();
              Set<Integer> others = cluster.without(Set.of(leader));
              LoopDisk disk = disks.get(leader);
              disk.freeze(20);
              long frozen = System.nanoTime();
              long frozenUs = history.nowUs();
              int next = cluster.awaitLeaderAmong(others, NEW_LEADER);
              say("next leader", frozen);
              Awaitility.await("a write through the next leader")
                  .atMost(NEW_LEADER)
                  .pollInterval(Duration.ofMillis(20))
                  .until(() -> history.acknowledgedSince(frozenUs) > 10);
              say("writes go on", frozen);
              StatusResponse former = cluster.status(leader);
              assertThat(former == null || former.getLeader() != former.getHeader().getMemberId())
                  .as("a leader whose disk hangs leads no more")
                  .isTrue();
              elapse(history, 5000);
              disk.thaw();
              awaitFollower(cluster, leader, next);
              elapse(history, 2000);
            }
          });
    }
  }

  @Test
  void aHangingDiskUnderASingleMember() throws Exception {
    try (LoopDisk disk = disk(1)) {
      TestCluster made =
          new TestCluster(
              directory,
              1,
              1,
              new SplittableRandom(SEED),
              Map.of(),
              Map.of(1, disk.data()));
      run(
          made,
          (cluster, history) -> {
            for (int seconds : new int[] {1, 3, 6}) {
              disk.freeze(20);
              long frozenUs = history.nowUs();
              elapse(history, seconds * 1000L);
              disk.thaw();
              long thawedUs = history.nowUs();
              assertThat(history.acknowledgedBetween(frozenUs, thawedUs))
                  .as("nothing is acknowledged that is not on the disk")
                  .isZero();
              Awaitility.await("it goes on")
                  .atMost(Duration.ofSeconds(10))
                  .until(() -> history.acknowledgedSince(thawedUs) > 10);
              elapse(history, 2000);
            }
          });
    }
  }

  private LoopDisk disk(int member) throws Exception {
    Path own = directory.resolve("disk" + member);
    Files.createDirectories(own);
    return new LoopDisk(own);
  }

  private void run(TestCluster cluster, Script script) throws Exception {
    ClusterCampaign.Figures figures =
        new ClusterCampaign(directory, SEED, cluster.size()).run(cluster, script);
    System.out.println(figures);
    assertThat(figures.verdict()).isEqualTo(Verdict.HOLDS);
    ClusterCampaignIT.remove(directory);
  }

  private static void say(String what, long sinceNanos) {
    System.out.println(what + " after ms=" + (System.nanoTime() - sinceNanos) / 1_000_000);
  }

  /** The load goes on for that long. */
  private static void elapse(ClusterHistory history, long ms) {
    long until = history.nowUs() + ms * 1000;
    Awaitility.await("time for the load")
        .atMost(Duration.ofMillis(ms + 60_000))
        .until(() -> history.nowUs() >= until);
  }

  private static StatusResponse status(TestCluster cluster, int member) {
    return cluster.calls(member).status(5000);
  }

  private static long term(TestCluster cluster, int member) {
    return status(cluster, member).getRaftTerm();
  }

  /** It follows that leader, and is not far behind. */
  private static void awaitFollower(TestCluster cluster, int member, int leader) {
    Awaitility.await("member " + member + " follows " + leader)
        .atMost(Duration.ofSeconds(20))
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
