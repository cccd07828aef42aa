package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.testing.FreePort;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A member is added, joins, is promoted and is removed; a follower serves all requests. */
@Clusters
@Tag("full")
@HeapIndependent
class MemberLifecycleIT {
  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "life-"));
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  @Test
  void memberIsAddedPromotedAndRemoved() throws IOException {
    cluster.startNew("n1", "n2", "n3");
    String follower = cluster.awaitFollower();
    cluster.run(follower, "put", "before", "1");

    // A learner, added through a follower.
    String added =
        cluster.runInTheEnd(
            follower, "member", "add", "n4", "--learner", "--peer-urls=" + cluster.peerUrl("n4"));
    assertThat(added).contains("ETCD_INITIAL_CLUSTER_STATE=\"existing\"");
    String id = cluster.id(follower, cluster.peerUrl("n4"));

    // A member with a wrong initial cluster is refused with the reason.
    try (NodeProcess wrong = cluster.join("n4", cluster.cluster("n1", "n2", "n4"))) {
      assertThat(wrong.awaitExit()).isEqualTo(2);
      assertThat(wrong.err())
          .contains("member count is unequal: troupe.initial-cluster names 3, the cluster has 4");
    }
    String elsewhere = cluster.cluster("n1", "n2", "n4") + ",n3=http://127.0.0.1:1";
    try (NodeProcess wrong = cluster.join("n4", elsewhere)) {
      assertThat(wrong.awaitExit()).isEqualTo(2);
      assertThat(wrong.err()).contains("PeerURLs: no match found for existing member");
    }
    assertThat(cluster.data("n4").resolve("identity")).doesNotExist();

    // The learner catches up and is promoted through a follower.
    cluster.join("n4", cluster.cluster("n1", "n2", "n3", "n4")).awaitReady();
    cluster.awaitKey("n4", "before", "1");
    cluster.runInTheEnd(follower, "member", "promote", id);
    cluster.run("n4", "put", "after", "2");
    for (String name : cluster.running()) {
      cluster.awaitKey(name, "after", "2");
    }

    // A member is removed: its process stops by itself with the status of a removed member.
    String leader = cluster.awaitLeader();
    String gone =
        cluster.running().stream()
            .filter(name -> !name.equals(leader) && !name.equals("n4"))
            .findFirst()
            .orElseThrow();
    String goneId = cluster.id(leader, cluster.peerUrl(gone));
    cluster.runInTheEnd("n4", "member", "remove", goneId);
    NodeProcess ended = cluster.process(gone);
    assertThat(ended.awaitExit()).isZero();
    assertThat(ended.err()).contains("this member was removed from the cluster");

    // With its data the member learns of its removal again; without it no peer accepts it.
    NodeProcess again = cluster.restart(gone);
    assertThat(again.awaitExit()).isZero();
    // It knows without the others, so it does not open its ports.
    assertThat(again.err())
        .contains("this member was removed from the cluster")
        .doesNotContain("listening address");
    DurableFiles.deleteTree(cluster.data(gone));
    NodeProcess empty = cluster.join(gone, cluster.cluster("n1", "n2", "n3", "n4"));
    assertThat(empty.awaitExit()).isEqualTo(2);
    assertThat(empty.err()).contains("member count is unequal");

    assertThat(cluster.members("n4")).hasSize(3);
    cluster.run("n4", "put", "end", "3");
    for (String name : cluster.running()) {
      cluster.awaitKey(name, "end", "3");
    }
  }

  /** A member that lost its votes must not restart under its old ID. */
  @Test
  void memberWithoutItsDataIsRefusedAndReplaced_B3() throws IOException {
    cluster.startNew("n1", "n2", "n3");
    cluster.run("n1", "put", "before", "1");
    String lost = cluster.awaitFollower();
    String other =
        cluster.running().stream().filter(n -> !n.equals(lost)).findFirst().orElseThrow();
    cluster.process(lost).kill();
    DurableFiles.deleteTree(cluster.data(lost));
    NodeProcess refused = cluster.restart(lost);
    assertThat(refused.awaitExit()).isEqualTo(2);
    assertThat(refused.err()).contains("has already been bootstrapped", "existing");

    // Immediately after the stop the leader may still count the member as connected (M5).
    cluster.runInTheEnd(other, "member", "remove", cluster.id(other, cluster.peerUrl(lost)));
    cluster.runInTheEnd(other, "member", "add", lost, "--peer-urls=" + cluster.peerUrl(lost));
    cluster.join(lost, cluster.cluster("n1", "n2", "n3")).awaitReady();
    cluster.awaitKey(lost, "before", "1");
    assertThat(cluster.members(other)).hasSize(3);
  }

  /** Decision 0051: the text order of the URLs matters, not their order in the setting. */
  @Test
  void memberWithSeveralUrlsIsReachedAtUrlThatSortsFirst() {
    String one = "http://127.0.0.1:" + FreePort.next();
    String two = "http://127.0.0.1:" + FreePort.next();
    String last = one.compareTo(two) < 0 ? two : one;
    String first = one.compareTo(two) < 0 ? one : two;
    String all = "n1=" + last + ",n1=" + first + "," + cluster.cluster("n2", "n3");
    cluster.start(
        "n1",
        "new",
        all,
        "-Dtroupe.listen-peer-urls=" + last + "," + first,
        "-Dtroupe.initial-advertise-peer-urls=" + last + "," + first);
    cluster.start("n2", "new", all);
    cluster.process("n1").awaitReady();
    cluster.process("n2").awaitReady();
    cluster.run("n1", "put", "k", "v");
    cluster.awaitKey("n2", "k", "v");
    assertThat(cluster.members("n2").toString()).contains(first, last);
    assertThat(cluster.process("n1").err()).doesNotContain("advertised peer URL differs");
  }

  @Test
  void memberMovesToAnotherAddress_M7() {
    cluster.startNew("n1", "n2", "n3");
    String moves = cluster.awaitFollower();
    String leader = cluster.awaitLeader();
    String url = "http://127.0.0.1:" + FreePort.next();
    String id = cluster.id(leader, cluster.peerUrl(moves));
    assertThat(cluster.process(moves).stop()).isEqualTo(143);
    cluster.runInTheEnd(leader, "member", "update", id, "--peer-urls=" + url);
    cluster.run(leader, "put", "while-it-moves", "1");
    cluster.start(
        moves,
        "existing",
        cluster.cluster("n1", "n2", "n3"),
        "-Dtroupe.listen-peer-urls=" + url,
        "-Dtroupe.initial-advertise-peer-urls=" + url);
    cluster.process(moves).awaitReady();
    cluster.awaitKey(moves, "while-it-moves", "1");
    cluster.runInTheEnd(moves, "put", "moved", "2");
    assertThat(cluster.members(moves).toString()).contains(url);

    // The moved member is part of the quorum: the two members continue without the third one.
    cluster.process(leader).kill();
    cluster.runInTheEnd(moves, "put", "without-the-leader", "3");
    for (String name : cluster.running()) {
      cluster.awaitKey(name, "without-the-leader", "3");
    }
  }
}
