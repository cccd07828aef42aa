package io.troupe.tests.faults;

import static io.troupe.tests.faults.Scenario.NEW_LEADER;
import static io.troupe.tests.faults.Scenario.awaitFollower;
import static io.troupe.tests.faults.Scenario.awaitWrites;
import static io.troupe.tests.faults.Scenario.elapse;
import static io.troupe.tests.faults.Scenario.term;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.simulation.history.Answer;
import io.troupe.simulation.history.Request;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.HeapIndependent;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/**
 * Members that join while clients send calls and links are cut, as whole processes.
 * docs/campaigns/README.md lists the challenges.
 */
@Alone
@Tag("full")
@HeapIndependent
class ClusterMembershipIT {
  private final Scenario scenario;

  ClusterMembershipIT(TestInfo test) throws Exception {
    scenario = new Scenario(test);
  }

  @AfterEach
  void removeFiles() throws Exception {
    scenario.close();
  }

  private TestCluster threeAndOneMore(Map<String, String> settings) throws Exception {
    return new TestCluster(scenario.directory(), 3, 4, scenario.random(), settings, Map.of());
  }

  @Test
  void newEmptyMemberDoesNotDeposeLeader() throws Exception {
    scenario.run(
        threeAndOneMore(Map.of()),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          fill(cluster, history);
          long term = term(cluster, leader);
          add(cluster, leader, 4);
          cluster.join(4);
          awaitFollower(cluster, 4, leader);
          cluster.awaitReady(4);
          elapse(history, 3000);
          assertThat(cluster.leader()).isEqualTo(leader);
          assertThat(term(cluster, leader)).as("no election").isEqualTo(term);
          assertThat(cluster.count(4, "received snapshot"))
              .as("the log alone was not enough")
              .isPositive();
        });
  }

  @Test
  void fourthMemberThenPartitions() throws Exception {
    scenario.run(
        threeAndOneMore(Map.of()),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          add(cluster, leader, 4);
          cluster.join(4);
          cluster.awaitReady(4);
          awaitFollower(cluster, 4, cluster.awaitLeader());

          // 3-1: the new member alone; then the leader alone.
          for (int alone : new int[] {4, cluster.awaitLeader()}) {
            Set<Integer> others = cluster.without(Set.of(alone));
            cluster.network().split(Set.of(alone), others);
            int next = cluster.awaitLeaderAmong(others, NEW_LEADER);
            awaitWrites(history, history.nowUs(), NEW_LEADER);
            elapse(history, 3000);
            cluster.network().join(Set.of(alone), others, 0);
            awaitFollower(cluster, alone, next);
          }

          // 2-2: no side has a majority of four.
          int last = cluster.awaitLeader();
          Iterator<Integer> rest = cluster.without(Set.of(last)).iterator();
          Set<Integer> half = new TreeSet<>(Set.of(last, rest.next()));
          Set<Integer> other = cluster.without(half);
          cluster.network().split(half, other);
          Awaitility.await("no leader")
              .atMost(Duration.ofSeconds(10))
              .until(() -> cluster.leader() == 0);
          long quietUs = history.nowUs();
          elapse(history, 4000);
          assertThat(history.acknowledgedBetween(quietUs, history.nowUs()))
              .as("writes without a majority")
              .isZero();
          cluster.network().join(half, other, 0);
          cluster.awaitLeader();
          awaitWrites(history, history.nowUs(), NEW_LEADER);
        });
  }

  @Test
  void partitionThenMemberAdd() throws Exception {
    scenario.run(
        threeAndOneMore(Map.of("strict-reconfig-check", "false")),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          int follower = cluster.without(Set.of(leader)).iterator().next();
          cluster.network().split(Set.of(follower), Set.of(1, 2, 3, 4));
          elapse(history, 2000);
          cluster.calls(leader).addMember(cluster.network().url(4));
          // Three of four are needed now, and only two run until the new member starts. If its
          // start is slow the leader steps down meanwhile, as it should.
          cluster.join(4);
          cluster.awaitReady(4);
          awaitWrites(history, history.nowUs(), NEW_LEADER);
          assertThat(cluster.without(Set.of(follower, 4))).contains(cluster.leader());
          cluster.network().join(Set.of(follower), Set.of(1, 2, 3, 4), 0);
          awaitFollower(cluster, follower, cluster.awaitLeader());
        });
  }

  @Test
  void strictCheckRefusesMemberAddWhileMemberIsDown() throws Exception {
    scenario.run(
        threeAndOneMore(Map.of()),
        (cluster, history) -> {
          int leader = cluster.awaitLeader();
          int follower = cluster.without(Set.of(leader)).iterator().next();
          cluster.network().split(Set.of(follower), Set.of(1, 2, 3));
          elapse(history, 3000);
          assertThatThrownBy(() -> cluster.calls(leader).addMember(cluster.network().url(4)))
              .hasMessageContaining("etcdserver: unhealthy cluster");
          cluster.network().join(Set.of(follower), Set.of(1, 2, 3), 0);
          add(cluster, leader, 4);
          cluster.join(4);
          cluster.awaitReady(4);
          awaitFollower(cluster, 4, cluster.awaitLeader());
        });
  }

  /** Adds a member once its peers count as connected. */
  private static void add(TestCluster cluster, int leader, int member) {
    Awaitility.await("added")
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(300))
        .ignoreExceptionsMatching(e -> String.valueOf(e.getMessage()).contains("unhealthy cluster"))
        .until(
            () -> {
              cluster.calls(leader).addMember(cluster.network().url(member));
              return true;
            });
  }

  /** 16 MB of values, so that the catch-up of a new member takes time. */
  private static void fill(TestCluster cluster, ClusterHistory history) {
    SplittableRandom random = new SplittableRandom(3);
    HistoryClient client = new HistoryClient(cluster, history, random);
    for (int i = 0; i < 256; i++) {
      byte[] value = new byte[64 << 10];
      random.nextBytes(value);
      Operation.Put put =
          new Operation.Put(Bytes.utf8("large" + i), Bytes.wrap(value), 0, false, false, false);
      assertThat(client.call(new Request.Write(put), 10_000)).isInstanceOf(Answer.Done.class);
    }
  }
}
