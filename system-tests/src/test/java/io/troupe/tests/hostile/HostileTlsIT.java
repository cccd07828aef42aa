package io.troupe.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.OwnHeap;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;

/** Attacks on a TLS client port of a member with 256 MiB. Clients need no certificate. */
@Alone
@Tag("full")
@OwnHeap
class HostileTlsIT {
  private static final String RANGE = "/etcdserverpb.KV/Range";
  private static final int MEBIBYTE = 1 << 20;

  /** The target is 2 s; a machine that runs other tests at the same time may need longer. */
  private static final int MAX_P99_MS = 10_000;

  private static final int HALF_HELLO = 11;

  @TempDir Path directory = Path.of("");

  private HostileCluster cluster;
  private WellBehavedClient client;

  @BeforeEach
  void start() throws Exception {
    cluster = HostileCluster.start(directory, 1, "256m", true);
    client = WellBehavedClient.start(cluster.target(0));
    cluster.put("small", 12_000);
    for (int i = 0; i < 4; i++) {
      cluster.put("large" + i, MEBIBYTE);
    }
  }

  @AfterEach
  void stop() {
    client.close();
    cluster.close();
  }

  /**
   * Attacks; a connected client and a new client are served while the attack holds its resources.
   */
  private void survives(Attack attack, TestInfo test) throws Exception {
    client.figures();
    long start = System.nanoTime();
    try (Attack.Held unused = attack.on(cluster.target(0))) {
      Duration sent = Duration.ofNanos(System.nanoTime() - start);
      Duration connected = newcomerConnects();
      newcomerIsServed();
      System.out.printf(
          "%s: sent-in=%s newcomer-connects-in=%s connections=%.0f closed=%s%n",
          test.getDisplayName(), sent, connected, connections(), closed());
    }
    WellBehavedClient.Figures figures = client.figures();
    System.out.println(test.getDisplayName() + ": " + figures);
    assertThat(cluster.member(0).isAlive()).as(cluster.member(0).toString()).isTrue();
    assertThat(figures.failures()).isEmpty();
    assertThat(figures.p99Ms()).isLessThan(MAX_P99_MS);
  }

  private double connections() {
    return figure("troupe_client_connections");
  }

  /** Connections that the member closed, by reason. */
  private String closed() {
    StringBuilder found = new StringBuilder();
    for (String reason : new String[] {"too_many", "idle", "slow"}) {
      String name = "troupe_client_connections_closed_total{reason=\"" + reason + "\"}";
      found.append(reason).append('=').append((long) figure(name)).append(' ');
    }
    return found.toString().strip();
  }

  private double figure(String name) {
    return Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptions()
        .until(() -> cluster.metric(0, name), found -> true);
  }

  /** The time until a handshake succeeds, with ten attempts per second. */
  private Duration newcomerConnects() {
    long start = System.nanoTime();
    Awaitility.await("a newcomer connects")
        .atMost(Duration.ofSeconds(20))
        .ignoreExceptions()
        .until(
            () -> {
              try (RawConnection connection = RawConnection.wide(cluster.target(0))) {
                return connection.read().isPresent();
              }
            });
    return Duration.ofNanos(System.nanoTime() - start);
  }

  /** A client that connects now; its channel retries a refused connection. */
  private void newcomerIsServed() {
    ManagedChannel channel = cluster.target(0).channel();
    try {
      RangeRequest request =
          RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("small")).build();
      assertThat(
              KVGrpc.newBlockingStub(channel)
                  .withWaitForReady()
                  .withDeadlineAfter(20, TimeUnit.SECONDS)
                  .range(request)
                  .getKvsCount())
          .isOne();
    } finally {
      channel.shutdownNow();
    }
  }

  private void holdsNothing() {
    client.close();
    Awaitility.await("memory of clients is free again")
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(figure("troupe_client_memory_bytes")).isZero());
    Awaitility.await("connections end")
        .atMost(Duration.ofSeconds(30))
        .untilAsserted(() -> assertThat(connections()).isLessThanOrEqualTo(1));
    assertThat(cluster.member(0).err().lines().filter(line -> line.contains(" ERROR "))).isEmpty();
  }

  @Test
  void idleTlsConnections(TestInfo test) throws Exception {
    survives(new IdleConnections(1000), test);
    holdsNothing();
  }

  @Test
  void unfinishedHandshakes(TestInfo test) throws Exception {
    survives(new UnfinishedHandshakes(1000, HALF_HELLO), test);
    survives(new UnfinishedHandshakes(1000, MEBIBYTE), test);
    try (Attack.Held unused = new UnfinishedHandshakes(1000, HALF_HELLO).on(cluster.target(0))) {
      Awaitility.await("handshakes end while their clients wait")
          .atMost(Duration.ofSeconds(40))
          .until(() -> connections() < 10);
    }
    holdsNothing();
  }

  @Test
  void clientMemoryIsCounted(TestInfo test) throws Exception {
    byte[] large =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("large"))
            .setRangeEnd(ByteString.copyFromUtf8("large~"))
            .build()
            .toByteArray();
    byte[] upload =
        PutRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("upload"))
            .setValue(ByteString.copyFrom(new byte[MEBIBYTE]))
            .build()
            .toByteArray();
    survives(new UnreadResponses(2, 200, RANGE, large), test);
    survives(new IncompleteUploads(2, 128, "/etcdserverpb.KV/Put", upload), test);
    survives(new SlowWatches(2, 100, 300, 32 << 10), test);
    holdsNothing();
  }
}
