package io.troupe.tests.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.HeapIndependent;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Members join without waiting for a timeout: by a snapshot, and directly after an election. */
@Clusters
@Tag("full")
@HeapIndependent
class JoinAtOnceIT {
  private static final Logger LOG = LoggerFactory.getLogger(JoinAtOnceIT.class);

  /** M5: members must be connected for this long before a member can be added. */
  private static final Duration CONNECTED = Duration.ofSeconds(5);

  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "join-"));
    cluster.setting("snapshot-count", "100");
    cluster.setting("snapshot-min-interval", "0ms");
    cluster.startNew("n1", "n2", "n3");
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private void put(String member, int count) {
    ManagedChannel channel =
        Grpc.newChannelBuilder(cluster.endpoint(member), InsecureChannelCredentials.create())
            .build();
    try {
      KVGrpc.KVBlockingStub kv = KVGrpc.newBlockingStub(channel);
      for (int i = 0; i < count; i++) {
        ByteString text = ByteString.copyFromUtf8("k" + i);
        kv.put(PutRequest.newBuilder().setKey(text).setValue(text).build());
      }
    } finally {
      channel.shutdownNow();
    }
  }

  private static Instant timeOf(String line) {
    return Instant.parse(line.substring(0, line.indexOf(' ')));
  }

  /**
   * Fixed: a proposal that the member sent before its state was replaced was lost, and the member
   * waited for 7 s.
   */
  @Test
  void memberJoiningBySnapshotPublishesImmediately() {
    String leader = cluster.awaitLeader();
    put(leader, 600);
    ProcessCluster.await("snapshots")
        .until(
            () ->
                cluster
                        .process(leader)
                        .err()
                        .lines()
                        .filter(l -> l.contains("saved snapshot"))
                        .count()
                    >= 4);
    cluster.runInTheEnd(leader, "member", "add", "n4", "--peer-urls=" + cluster.peerUrl("n4"));
    NodeProcess joined = cluster.join("n4", cluster.cluster("n1", "n2", "n3", "n4")).awaitReady();
    Instant received = timeOf(joined.awaitLine("received snapshot"));
    Instant published = timeOf(joined.awaitLine("published local member"));
    LOG.info("published after ms={}", Duration.between(received, published).toMillis());
    assertThat(Duration.between(received, published)).isLessThan(Duration.ofSeconds(5));
    cluster.awaitKey("n4", "k599", "k599");
  }

  @Test
  void memberAddWorksImmediatelyAfterLeadershipTransfer_M5() {
    String leader = cluster.awaitLeader();
    long connected = System.nanoTime();
    ProcessCluster.await("connections that stand")
        .until(() -> System.nanoTime() - connected > CONNECTED.plusSeconds(2).toNanos());
    String next =
        cluster.running().stream().filter(name -> !name.equals(leader)).findFirst().orElseThrow();
    cluster.run(leader, "move-leader", cluster.id(leader, cluster.peerUrl(next)));
    assertThat(cluster.run(next, "member", "add", "n4", "--peer-urls=" + cluster.peerUrl("n4")))
        .contains("added to cluster");
    assertThat(cluster.awaitLeader()).isEqualTo(next);
  }
}
