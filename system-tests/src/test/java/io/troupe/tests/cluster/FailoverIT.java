package io.troupe.tests.cluster;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KV;
import io.troupe.tests.process.Clusters;
import io.troupe.tests.process.NodeProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Clients with all three endpoints continue after the kill of the leader's process. */
@Clusters
@Tag("full")
class FailoverIT {
  private static final Logger LOG = LoggerFactory.getLogger(FailoverIT.class);
  private static final Duration TIMEOUT = Duration.ofSeconds(60);

  private ProcessCluster cluster = new ProcessCluster(Path.of(""));

  @BeforeEach
  void start() throws IOException {
    cluster = new ProcessCluster(Files.createTempDirectory(Path.of("target"), "failover-"));
    cluster.startNew("n1", "n2", "n3");
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private static ByteSequence bytes(String text) {
    return ByteSequence.from(text, UTF_8);
  }

  /** Repeats a put until it succeeds; a repeated put does no harm. */
  private static void put(KV kv, String key, String value) throws Exception {
    long end = System.nanoTime() + TIMEOUT.toNanos();
    while (true) {
      try {
        kv.put(bytes(key), bytes(value)).get(1, TimeUnit.SECONDS);
        return;
      } catch (ExecutionException | TimeoutException e) {
        assertThat(System.nanoTime() - end).as("no write was accepted: %s", e).isNegative();
      }
    }
  }

  private String[] targets() {
    return cluster.running().stream()
        .map(name -> "http://" + cluster.endpoint(name))
        .toArray(String[]::new);
  }

  @Test
  void jetcdContinuesAfterLeaderKill() throws Exception {
    String leader = cluster.awaitLeader();
    try (Client client = Client.builder().endpoints(targets()).build()) {
      KV kv = client.getKVClient();
      for (int i = 0; i < 50; i++) {
        put(kv, "before" + i, "v");
      }
      long killed = System.nanoTime();
      cluster.process(leader).kill();
      put(kv, "first", "v");
      long gap = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killed);
      LOG.info("first write accepted after kill -9 of the leader ms={}", gap);
      for (int i = 0; i < 50; i++) {
        put(kv, "after" + i, "v");
      }
      cluster.restart(leader).awaitReady();
      for (String name : cluster.running()) {
        cluster.awaitKey(name, "after49", "v");
        cluster.awaitKey(name, "before0", "v");
      }
    }
  }

  @Test
  void etcdctlReachesRemainingMembers() {
    List<String> all = cluster.running();
    String leader = cluster.awaitLeader();
    try (NodeProcess put = cluster.etcdctl(all, "put", "k", "1")) {
      assertThat(put.awaitExit()).isZero();
    }
    try (NodeProcess watch = cluster.etcdctl(all, "watch", "k", "--rev=1")) {
      ProcessCluster.await("the watch").until(() -> watch.out().contains("1\n"));
      cluster.process(leader).kill();
      ProcessCluster.await("a write with all three endpoints")
          .until(
              () -> {
                try (NodeProcess put = cluster.etcdctl(all, "put", "k", "2")) {
                  return put.awaitExit() == 0;
                }
              });
      // The watch may have been open at the killed member; it resumes at another member without a
      // gap.
      ProcessCluster.await("the event after the failover")
          .until(() -> watch.out().contains("k\n2\n"));
    }
    try (NodeProcess health = cluster.etcdctl(all, "endpoint", "health")) {
      assertThat(health.awaitExit()).as("one of three is down").isNotZero();
      assertThat((health.out() + health.err()).lines().filter(l -> l.contains("is healthy")))
          .hasSize(2);
    }
  }
}
