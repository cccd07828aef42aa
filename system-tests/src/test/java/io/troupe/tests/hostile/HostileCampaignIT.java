package io.troupe.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import io.troupe.tests.process.ProcessResources;
import io.troupe.tests.process.TestHeap;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random mixtures of attacks on the client ports of a cluster, while well-behaved clients write and
 * read on each member. No member ends, no response is wrong, and each client is served during each
 * mixture. Afterwards clients hold no memory, and heap and threads return to their initial levels.
 * Settings: {@code -Dtroupe.hostile.seconds}, {@code -Dtroupe.hostile.members} (1 or 3), {@code
 * -Dtroupe.hostile.heap} (256m), {@code -Dtroupe.hostile.tls} (client ports with TLS), {@code
 * -Dtroupe.hostile.seed}.
 */
@Alone
@Tag("full")
@OwnHeap
class HostileCampaignIT {
  private static final int SECONDS = Integer.getInteger("troupe.hostile.seconds", 45);
  private static final int MEMBERS = Integer.getInteger("troupe.hostile.members", 3);
  private static final String HEAP = System.getProperty("troupe.hostile.heap", "256m");
  private static final boolean TLS = Boolean.getBoolean("troupe.hostile.tls");
  private static final long SEED = Long.getLong("troupe.hostile.seed", System.nanoTime());
  private static final int MEBIBYTE = 1 << 20;
  private static final String RANGE = "/etcdserverpb.KV/Range";

  /** Threads that start and stop with the load: of the common pools and of the collector. */
  private static final int MORE_THREADS = 30;

  private static final long MORE_HEAP_KIB = TestHeap.cachesKiB(HEAP);

  /** Calls of each client during each mixture, so that its latency is meaningful. */
  private static final int MIN_CALLS = 50;

  @TempDir Path directory = Path.of("");

  private final SplittableRandom random = new SplittableRandom(SEED);

  private static byte[] large() {
    return RangeRequest.newBuilder()
        .setKey(ByteString.copyFromUtf8("large"))
        .setRangeEnd(ByteString.copyFromUtf8("large~"))
        .build()
        .toByteArray();
  }

  private static String base64(String text) {
    return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  private static List<NamedAttack> attacks() {
    byte[] small =
        RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("small")).build().toByteArray();
    byte[] upload =
        PutRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("upload"))
            .setValue(ByteString.copyFrom(new byte[MEBIBYTE]))
            .build()
            .toByteArray();
    String json =
        "{\"key\":\"" + base64("large") + "\",\"range_end\":\"" + base64("large~") + "\"}";
    List<NamedAttack> all = new ArrayList<>();
    all.add(new NamedAttack("small unread responses", new UnreadResponses(4, 2000, RANGE, small)));
    all.add(new NamedAttack("large unread responses", new UnreadResponses(2, 100, RANGE, large())));
    all.add(
        new NamedAttack(
            "incomplete uploads", new IncompleteUploads(2, 256, "/etcdserverpb.KV/Put", upload)));
    all.add(new NamedAttack("unread JSON", new UnreadJson(30, "/v3/kv/range", json, "")));
    all.add(new NamedAttack("idle connections", new IdleConnections(1000)));
    all.add(
        new NamedAttack(
            "header flood", target -> new HeaderFlood(16_000, 64 * MEBIBYTE).on(target)));
    all.add(
        new NamedAttack(
            "empty header frames", target -> new HeaderFlood(0, 16 * MEBIBYTE).on(target)));
    all.add(new NamedAttack("headers", new HeldHeaders(1, 1000, HeldHeaders.Fields.SHORT)));
    all.add(new NamedAttack("heads", new HeldHeads(200, 60_000)));
    all.add(new NamedAttack("resets", target -> new ResetFlood(RANGE, small, 5000).on(target)));
    all.add(new NamedAttack("slow watches", new SlowWatches(2, 50, 200, 32 << 10)));
    if (TLS) {
      all.add(new NamedAttack("first bytes of handshakes", new UnfinishedHandshakes(600, 11)));
      all.add(new NamedAttack("half handshakes", new UnfinishedHandshakes(600, MEBIBYTE)));
    }
    return all;
  }

  @Test
  void membersServeOthersDuringRandomMixturesOfAttacks() throws Exception {
    System.out.printf(
        "hostile campaign seed=%d members=%d heap=%s tls=%s seconds=%d%n",
        SEED, MEMBERS, HEAP, TLS, SECONDS);
    List<WellBehavedClient> clients = new ArrayList<>();
    try (HostileCluster cluster = HostileCluster.start(directory, MEMBERS, HEAP, TLS)) {
      cluster.put("small", 12_000);
      for (int i = 0; i < 4; i++) {
        cluster.put("large" + i, MEBIBYTE);
      }
      for (int i = 0; i < MEMBERS; i++) {
        clients.add(WellBehavedClient.start(cluster.target(i), "well-behaved-" + i));
      }
      List<Double> threads = IntStream.range(0, MEMBERS).mapToObj(cluster::threads).toList();
      List<ProcessResources> before =
          IntStream.range(0, MEMBERS).mapToObj(cluster::resources).toList();
      int mixtures = mix(cluster, clients);
      clients.forEach(WellBehavedClient::close);
      System.out.println("hostile campaign ended, mixtures=" + mixtures);
      for (int i = 0; i < MEMBERS; i++) {
        becomesQuiet(cluster, i, threads.get(i) + MORE_THREADS);
        heapIsReleased(cluster, i, before.get(i));
      }
    } finally {
      clients.forEach(WellBehavedClient::close);
    }
  }

  private int mix(HostileCluster cluster, List<WellBehavedClient> clients) throws Exception {
    List<NamedAttack> attacks = attacks();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    int mixtures = 0;
    // Each attack at least once, then random ones.
    while (mixtures < attacks.size() || System.nanoTime() < end) {
      NamedAttack first = mixtures < attacks.size() ? attacks.get(mixtures) : any(attacks);
      NamedAttack second = any(attacks);
      int target = random.nextInt(MEMBERS);
      try (Attack.Held unused = first.attack().on(cluster.target(target));
          Attack.Held other = second.attack().on(cluster.target(random.nextInt(MEMBERS)))) {
        Awaitility.await(first + "+" + second + " " + unused + " " + other)
            .atMost(Duration.ofMinutes(5))
            .until(() -> clients.stream().allMatch(client -> client.calls() >= MIN_CALLS));
      }
      mixtures++;
      for (int i = 0; i < MEMBERS; i++) {
        WellBehavedClient.Figures figures = clients.get(i).figures();
        System.out.printf(
            "mixture=%d attacks=%s+%s target=n%d client=n%d %s%n",
            mixtures, first, second, target, i, figures);
        // Attackers, clients and members share the cores: another member may become leader.
        assertThat(figures.failures())
            .as("client of n%s", i)
            .allMatch(failure -> String.valueOf(failure.getMessage()).contains("etcdserver: "));
      }
      for (NodeProcess member : cluster.members()) {
        assertThat(member.isAlive()).as(member.toString()).isTrue();
      }
    }
    return mixtures;
  }

  /**
   * Waits for the heap to fall: entries that the well-behaved clients wrote last may be on their
   * way to a follower or to the disk. What a leak holds stays.
   */
  private static void heapIsReleased(HostileCluster cluster, int member, ProcessResources before) {
    Awaitility.await("heap of n" + member)
        .atMost(Duration.ofSeconds(90))
        .pollInterval(Duration.ofSeconds(2))
        .untilAsserted(
            () -> {
              ProcessResources after = cluster.resources(member);
              System.out.printf("n%d before=%s after=%s%n", member, before, after);
              assertThat(after.heapKiB())
                  .as(() -> cluster.largestClasses(member))
                  .isLessThan(before.heapKiB() + MORE_HEAP_KIB);
            });
  }

  private NamedAttack any(List<NamedAttack> attacks) {
    return attacks.get(random.nextInt(attacks.size()));
  }

  private void becomesQuiet(HostileCluster cluster, int member, double mostThreads) {
    Awaitility.await("memory of clients is free again")
        .atMost(Duration.ofSeconds(60))
        .ignoreExceptions()
        .until(() -> cluster.metric(member, "troupe_client_memory_bytes") == 0);
    Awaitility.await("threads end")
        .atMost(Duration.ofSeconds(90))
        .until(() -> cluster.threads(member) <= mostThreads);
    assertThat(cluster.member(member).err().lines().filter(line -> line.contains(" ERROR ")))
        .isEmpty();
  }
}
