package io.troupe.tests.faults;

import static io.troupe.tests.faults.Scenario.NEW_LEADER;
import static io.troupe.tests.faults.Scenario.awaitFollower;
import static io.troupe.tests.faults.Scenario.awaitWrites;
import static io.troupe.tests.faults.Scenario.elapse;
import static io.troupe.tests.faults.Scenario.say;
import static io.troupe.tests.faults.Scenario.status;
import static io.troupe.tests.faults.Scenario.term;
import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.StatusResponse;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.HeapIndependent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * One fault at a time under the load of the campaign, with its bounds; the checks of the campaign
 * follow each time. docs/campaigns/README.md lists the challenges.
 */
@Alone
@NeedsRoot
@HeapIndependent
class ClusterFaultsIT {
  /** Rounds of repeated faults; campaigns use more. */
  private static final int ROUNDS = Integer.getInteger("troupe.faults.rounds", 1);

  private final Scenario scenario;

  ClusterFaultsIT(TestInfo test) throws Exception {
    scenario = new Scenario(test);
  }

  @AfterEach
  void removeFiles() throws Exception {
    scenario.close();
  }

  @Test
  void isolatedFollowerCausesNoElection() throws Exception {
    scenario.run(
        TestCluster.of(scenario.directory(), 3, scenario.random()),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          int follower = cluster.without(Set.of(leader)).iterator().next();
          Set<Integer> others = cluster.without(Set.of(follower));
          long term = term(cluster, leader);
          cluster.network().split(Set.of(follower), others);
          elapse(history, 6000);
          assertThat(history.longestSilenceUs())
              .as("longest time without an acknowledged write")
              .isLessThan(2_000_000);
          cluster.network().join(Set.of(follower), others, 0);
          awaitFollower(cluster, follower, leader);
          elapse(history, 1500);
          assertThat(term(cluster, leader)).as("no election").isEqualTo(term);
          assertThat(cluster.leader()).isEqualTo(leader);
        });
  }

  @Test
  void isolatedLeaderStopsServingAndReturnsAsFollower() throws Exception {
    scenario.run(
        TestCluster.of(scenario.directory(), 3, scenario.random()),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          Set<Integer> others = cluster.without(Set.of(leader));
          cluster.network().split(Set.of(leader), others);
          long cut = System.nanoTime();
          Awaitility.await("the isolated leader steps down")
              .atMost(Duration.ofSeconds(4))
              .pollInterval(Duration.ofMillis(20))
              .until(() -> status(cluster, leader).getLeader() == 0);
          say("isolated leader stepped down", cut);
          int next = cluster.awaitLeaderAmong(others, NEW_LEADER);
          say("next leader", cut);
          elapse(history, 3000);
          long term = term(cluster, next);
          cluster.network().join(Set.of(leader), others, 0);
          awaitFollower(cluster, leader, next);
          elapse(history, 1500);
          assertThat(term(cluster, next)).as("no election when it came back").isEqualTo(term);
        });
  }

  @Test
  void leaderPausedForLongerThanLeaseTtl() throws Exception {
    scenario.run(
        TestCluster.of(scenario.directory(), 3, scenario.random()),
        (cluster, history) -> {
          for (int round = 0; round < ROUNDS; round++) {
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
  void hangingDiskOfLeaderMovesLeadership() throws Exception {
    try (LoopDisk one = disk(1);
        LoopDisk two = disk(2);
        LoopDisk three = disk(3)) {
      Map<Integer, LoopDisk> disks = Map.of(1, one, 2, two, 3, three);
      TestCluster made =
          new TestCluster(
              scenario.directory(),
              3,
              3,
              scenario.random(),
              Map.of(),
              Map.of(1, one.data(), 2, two.data(), 3, three.data()));
      scenario.run(
          made,
          (cluster, history) -> {
            for (int round = 0; round < ROUNDS; round++) {
              int leader = cluster.awaitLeader();
              Set<Integer> others = cluster.without(Set.of(leader));
              LoopDisk disk = requireNonNull(disks.get(leader));
              disk.freeze(20);
              long frozen = System.nanoTime();
              long frozenUs = history.nowUs();
              int next = cluster.awaitLeaderAmong(others, NEW_LEADER);
              say("next leader", frozen);
              awaitWrites(history, frozenUs, NEW_LEADER);
              say("writes continue", frozen);
              StatusResponse former = cluster.status(leader);
              assertThat(former == null || former.getLeader() != former.getHeader().getMemberId())
                  .as("a leader with a hanging disk steps down")
                  .isTrue();
              elapse(history, 3000);
              disk.thaw();
              awaitFollower(cluster, leader, next);
              elapse(history, 2000);
            }
          });
    }
  }

  @Test
  void hangingDiskOfSingleMemberFailsWrites() throws Exception {
    try (LoopDisk disk = disk(1)) {
      TestCluster made =
          new TestCluster(
              scenario.directory(), 1, 1, scenario.random(), Map.of(), Map.of(1, disk.data()));
      scenario.run(
          made,
          (cluster, history) -> {
            for (int seconds : new int[] {1, 4}) {
              disk.freeze(20);
              long frozenUs = history.nowUs();
              elapse(history, seconds * 1000L);
              disk.thaw();
              long thawedUs = history.nowUs();
              assertThat(history.acknowledgedBetween(frozenUs, thawedUs))
                  .as("nothing is acknowledged that is not on the disk")
                  .isZero();
              awaitWrites(history, thawedUs, Duration.ofSeconds(10));
              elapse(history, 2000);
            }
          });
    }
  }

  private LoopDisk disk(int member) throws Exception {
    Path own = scenario.directory().resolve("disk" + member);
    Files.createDirectories(own);
    return new LoopDisk(own);
  }
}
