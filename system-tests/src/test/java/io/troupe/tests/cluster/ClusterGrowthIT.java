package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.Clusters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Growing clusters: challenges f, g, h and i of docs/campaigns/README.md. */
@Clusters
@Tag("full")
class ClusterGrowthIT {
  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "challenge-"));
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private void add(String via, String name, String peerUrl, String... more) {
    String[] command = {"member", "add", name, "--peer-urls=" + peerUrl};
    String[] all = Arrays.copyOf(command, command.length + more.length);
    System.arraycopy(more, 0, all, command.length, more.length);
    cluster.runInTheEnd(via, all);
  }

  /** The add succeeds although the new member, which the quorum now needs, does not run yet. */
  @Test
  void singleMemberClusterGrowsToTwo() {
    cluster.startNew("n1");
    cluster.run("n1", "put", "before", "1");
    add("n1", "n2", cluster.peerUrl("n2"));
    assertThat(cluster.failed("n1", "put", "alone", "x")).contains("Error");
    cluster.awaitKey("n1", "before", "1");
    cluster.join("n2", cluster.cluster("n1", "n2")).awaitReady();
    cluster.run("n2", "put", "after", "2");
    cluster.awaitKey("n1", "after", "2");
    cluster.awaitKey("n2", "before", "1");
    assertThat(cluster.members("n2")).hasSize(2);
  }

  /**
   * No process listens at the address: the quorum is lost until a member starts there. No data is
   * lost.
   */
  @Test
  void wrongUrlInSingleMemberClusterStopsWritesUntilMemberStarts() {
    cluster.startNew("n1");
    cluster.run("n1", "put", "before", "1");
    assertThat(cluster.failed("n1", "member", "add", "x", "--peer-urls=" + cluster.peerUrl("n1")))
        .contains("etcdserver: Peer URLs already exists");
    // The peer address of n2 is wrong; no process listens there.
    add("n1", "n2", cluster.peerUrl("n2"));
    assertThat(cluster.failed("n1", "put", "lost", "x")).contains("Error");
    assertThat(
            cluster.failed(
                "n1",
                "member",
                "update",
                cluster.id("n1", cluster.peerUrl("n2")),
                "--peer-urls=" + cluster.peerUrl("n3")))
        .as("a membership change needs a quorum")
        .contains("Error");
    cluster.awaitKey("n1", "before", "1");
    // A restart does not help: calls then wait for a quorum (B1). It does no harm either.
    cluster.process("n1").kill();
    cluster.restart("n1").awaitLine("listening");
    // The repair: a member at exactly the given address.
    cluster.join("n2", cluster.cluster("n1", "n2")).awaitReady();
    cluster.process("n1").awaitReady();
    cluster.run("n1", "put", "healed", "2");
    cluster.awaitKey("n2", "healed", "2");
    cluster.awaitKey("n2", "before", "1");
  }

  /** A learner is not part of the quorum, so the address can be corrected. */
  @Test
  void wrongLearnerUrlInSingleMemberClusterIsCorrected() {
    cluster.startNew("n1");
    cluster.run("n1", "put", "before", "1");
    add("n1", "n2", "http://127.0.0.1:1", "--learner");
    cluster.run("n1", "put", "meanwhile", "2");
    String id = cluster.id("n1", "http://127.0.0.1:1");
    cluster.run("n1", "member", "update", id, "--peer-urls=" + cluster.peerUrl("n2"));
    cluster.join("n2", cluster.cluster("n1", "n2")).awaitReady();
    cluster.awaitKey("n2", "meanwhile", "2");
    cluster.runInTheEnd("n1", "member", "promote", id);
    cluster.run("n2", "put", "after", "3");
    cluster.awaitKey("n1", "after", "3");
  }

  @Test
  void wrongUrlInThreeMemberClusterCostsVoterAndIsCorrected() {
    cluster.startNew("n1", "n2", "n3");
    String follower = cluster.awaitFollower();
    add(follower, "n4", "http://127.0.0.1:1");
    cluster.run(follower, "put", "meanwhile", "1");
    // Three of five are a quorum. One more stopped member is not acceptable.
    add(follower, "n5", "http://127.0.0.1:2");
    assertThat(cluster.failed(follower, "member", "add", "n6", "--peer-urls=http://127.0.0.1:3"))
        .contains("etcdserver: re-configuration failed due to not enough started members");
    cluster.runInTheEnd(follower, "member", "remove", cluster.id(follower, "http://127.0.0.1:2"));
    String id = cluster.id(follower, "http://127.0.0.1:1");
    cluster.run(follower, "member", "update", id, "--peer-urls=" + cluster.peerUrl("n4"));
    cluster.join("n4", cluster.cluster("n1", "n2", "n3", "n4")).awaitReady();
    cluster.run("n4", "put", "after", "2");
    for (String name : cluster.running()) {
      cluster.awaitKey(name, "after", "2");
    }
  }

  @Test
  void learnerIsPromotedOnlyAfterItCaughtUp() {
    cluster.startNew("n1", "n2", "n3");
    String follower = cluster.awaitFollower();
    for (int i = 0; i < 20; i++) {
      cluster.run(follower, "put", "k" + i, "v" + i);
    }
    add(follower, "n4", cluster.peerUrl("n4"), "--learner");
    String id = cluster.id(follower, cluster.peerUrl("n4"));
    String lags = "etcdserver: can only promote a learner member which is in sync with leader";
    assertThat(cluster.failed(follower, "member", "promote", id)).contains(lags);
    assertThat(cluster.failed(cluster.awaitLeader(), "member", "promote", id)).contains(lags);
    cluster.join("n4", cluster.cluster("n1", "n2", "n3", "n4")).awaitReady();
    cluster.awaitKey("n4", "k19", "v19");
    assertThat(cluster.runInTheEnd(follower, "member", "promote", id)).contains("promoted");
    assertThat(cluster.failed(follower, "member", "promote", id))
        .contains("etcdserver: can only promote a learner member");
    // The member is part of the quorum: without it two of four are no quorum.
    String down = cluster.awaitLeader();
    cluster.process(down).kill();
    String up = cluster.awaitLeader();
    cluster.run(up, "put", "after", "1");
    cluster.awaitKey("n4", "after", "1");
  }

  @Test
  void learnerServesOnlyItsOwnState() {
    cluster.startNew("n1");
    cluster.run("n1", "put", "k", "v");
    add("n1", "n2", cluster.peerUrl("n2"), "--learner");
    cluster.join("n2", cluster.cluster("n1", "n2")).awaitReady();
    cluster.awaitKey("n2", "k", "v");
    String refused = "etcdserver: rpc not supported for learner";
    assertThat(cluster.failed("n2", "get", "k")).contains(refused);
    assertThat(cluster.failed("n2", "put", "k", "w")).contains(refused);
    assertThat(cluster.failed("n2", "del", "k")).contains(refused);
    assertThat(cluster.failed("n2", "lease", "grant", "10")).contains(refused);
    assertThat(cluster.failed("n2", "member", "list")).contains(refused);
    assertThat(cluster.failed("n2", "compaction", "1")).contains(refused);
    assertThat(cluster.failed("n2", "watch", "k")).contains(refused);
    String status = cluster.run("n2", "endpoint", "status", "-w", "json");
    assertThat(status).contains("\"isLearner\":true");
    assertThat(cluster.run("n1", "get", "k", "--print-value-only")).isEqualTo("v\n");
  }
}
