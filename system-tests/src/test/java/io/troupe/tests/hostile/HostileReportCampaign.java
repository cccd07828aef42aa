package io.troupe.tests.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.troupe.tests.process.Alone;
import io.troupe.tests.process.NodeProcess;
import io.troupe.tests.process.OwnHeap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every attack in full size, one after the other, on one and on three members with 256 MiB and with
 * the default heap (512 MiB on a machine of 2 GiB or more). A client on each member records its
 * latency and responses. No member ends, no response is wrong. The figures go to {@code
 * target/hostile/}. Part of the profile {@code full}. Settings: {@code -Dtroupe.hostile.clusters}
 * ({@code 1x256m-tls} is one member whose client port has TLS), {@code -Dtroupe.hostile.attacks} (a
 * regular expression; attacks whose names have no match are left out).
 */
@Alone
@Tag("full")
@OwnHeap
class HostileReportCampaign {
  private static final int MEBIBYTE = 1 << 20;
  private static final String RANGE = "/etcdserverpb.KV/Range";

  /** Calls of each client during each attack, so that its figures are meaningful. */
  private static final int LEAST_CALLS = 300;

  private static final String TLS = "-tls";

  private static final Pattern ATTACKS =
      Pattern.compile(System.getProperty("troupe.hostile.attacks", ""));

  private static final String CLUSTERS =
      System.getProperty("troupe.hostile.clusters", "1x256m,1x512m,3x256m,3x512m");

  private final Path temp;
  private final List<String> rows = new ArrayList<>();

  HostileReportCampaign(@TempDir Path temp) {
    this.temp = temp;
  }

  private static byte[] range(String from, String to) {
    return RangeRequest.newBuilder()
        .setKey(ByteString.copyFromUtf8(from))
        .setRangeEnd(ByteString.copyFromUtf8(to))
        .build()
        .toByteArray();
  }

  private static Attack json(String body) {
    return target -> {
      try (RawConnection connection =
          UnreadJson.request(target, "/v3/lease/grant", body, "Connection: close\r\n")) {
        assertThat(connection.text()).startsWith("HTTP/1.1 400");
      }
      return Attack.Held.NOTHING;
    };
  }

  private static List<NamedAttack> attacks(boolean tls) {
    byte[] upload =
        PutRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("upload"))
            .setValue(ByteString.copyFrom(new byte[MEBIBYTE]))
            .build()
            .toByteArray();
    String large = "{\"key\":\"bGFyZ2U=\",\"range_end\":\"bGFyZ2V+\"}";
    List<NamedAttack> all =
        new ArrayList<>(
            List.of(
                new NamedAttack("nothing", target -> Attack.Held.NOTHING),
                new NamedAttack(
                    "8 x 4,000 small unread responses",
                    new UnreadResponses(8, 4000, RANGE, small())),
                new NamedAttack(
                    "4 x 1,000 unread responses of 4 MiB",
                    new UnreadResponses(4, 1000, RANGE, range("large", "large~"))),
                new NamedAttack(
                    "4 x 256 uploads without the last byte",
                    new IncompleteUploads(4, 256, "/etcdserverpb.KV/Put", upload)),
                new NamedAttack(
                    "60 unread JSON responses", new UnreadJson(60, "/v3/kv/range", large, "")),
                new NamedAttack("6,000 idle connections", new IdleConnections(6000)),
                new NamedAttack("1 GiB of CONTINUATION frames", flood(16_384)),
                new NamedAttack("1 GiB of small CONTINUATION frames", flood(100)),
                new NamedAttack("empty CONTINUATION frames", flood(0)),
                new NamedAttack(
                    "8,000 streams with few long headers",
                    new HeldHeaders(2, 4000, HeldHeaders.Fields.LONG)),
                new NamedAttack(
                    "8,000 streams with many short headers",
                    new HeldHeaders(2, 4000, HeldHeaders.Fields.SHORT)),
                new NamedAttack(
                    "8,000 streams with 60,000 references each",
                    new HeldHeaders(2, 4000, HeldHeaders.Fields.REFERENCES)),
                new NamedAttack("600 heads of 450 KB over HTTP/1.1", new HeldHeads(600, 450_000)),
                new NamedAttack("600 heads of 60 KB over HTTP/1.1", new HeldHeads(600, 60_000)),
                new NamedAttack(
                    "100,000 resets of streams", new ResetFlood(RANGE, small(), 100_000)),
                new NamedAttack(
                    "JSON number 1e100000000", json("{\"TTL\":1,\"ID\":\"1e100000000\"}")),
                new NamedAttack(
                    "JSON number of 1 MiB",
                    json("{\"TTL\":1,\"ID\":" + "1".repeat(MEBIBYTE) + "}")),
                new NamedAttack(
                    "transaction of 42 x 42 x 44 ranges",
                    CostlyRequests.nestedRanges(List.of(42, 42, 44), false)),
                new NamedAttack(
                    "transaction with a put and 16 x 42 x 44 ranges",
                    CostlyRequests.nestedRanges(List.of(16, 42, 44), true)),
                new NamedAttack(
                    "deletion of 400 values of 1 MiB",
                    CostlyRequests.largeDeletion("values/", 400, MEBIBYTE)),
                new NamedAttack(
                    "deletion of 550,000 keys",
                    CostlyRequests.largeDeletion("keys/", 550_000, 100)),
                new NamedAttack(
                    "4 Election/Leader of all keys", CostlyRequests.leadersOfAllKeys(4)),
                new NamedAttack("2 hashes of 1.1 M revisions", CostlyRequests.hashes(2)),
                new NamedAttack(
                    "400 slow watches of 200 values of 256 KiB",
                    new SlowWatches(4, 100, 200, 256 << 10)),
                new NamedAttack(
                    "400 slow watches of 2,000 values of 32 KiB",
                    new SlowWatches(4, 100, 2000, 32 << 10)),
                new NamedAttack(
                    "400 slow watches of 40 revisions of 1.2 MB",
                    SlowWatches.ofLargeRevisions(4, 100, 40, 120, 10_000))));
    if (tls) {
      all.add(
          new NamedAttack("2,000 handshakes of a few bytes", new UnfinishedHandshakes(2000, 11)));
      all.add(
          new NamedAttack(
              "2,000 handshakes without the last message",
              new UnfinishedHandshakes(2000, MEBIBYTE)));
    }
    return all;
  }

  private static byte[] small() {
    return RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("small")).build().toByteArray();
  }

  private static Attack flood(int frameBytes) {
    return target -> new HeaderFlood(frameBytes, 1024L * MEBIBYTE).on(target);
  }

  static Stream<String> clusters() {
    return Arrays.stream(CLUSTERS.split(","));
  }

  @ParameterizedTest
  @MethodSource("clusters")
  void membersServeOthersDuringEachAttack(String form) throws Exception {
    boolean tls = form.endsWith(TLS);
    String sizeAndHeap = tls ? form.substring(0, form.length() - TLS.length()) : form;
    int size = Integer.parseInt(sizeAndHeap.substring(0, sizeAndHeap.indexOf('x')));
    String heap = sizeAndHeap.substring(sizeAndHeap.indexOf('x') + 1);
    List<WellBehavedClient> clients = new ArrayList<>();
    try (HostileCluster cluster = HostileCluster.start(temp, size, heap, tls)) {
      cluster.put("small", 12_000);
      for (int i = 0; i < 4; i++) {
        cluster.put("large" + i, MEBIBYTE);
      }
      for (int i = 0; i < size; i++) {
        clients.add(WellBehavedClient.start(cluster.target(i), "well-behaved-" + i));
      }
      for (NamedAttack attack : attacks(tls)) {
        if (!ATTACKS.matcher(attack.name()).find()) {
          continue;
        }
        attack(attack, cluster, clients);
      }
    } finally {
      clients.forEach(WellBehavedClient::close);
      write(size, heap + (tls ? TLS : ""));
    }
  }

  private void attack(NamedAttack attack, HostileCluster cluster, List<WellBehavedClient> clients)
      throws Exception {
    clients.forEach(WellBehavedClient::figures);
    long start = System.nanoTime();
    Duration took;
    try (Attack.Held held = attack.attack().on(cluster.target(0))) {
      took = Duration.ofNanos(System.nanoTime() - start);
      Awaitility.await(attack + " " + held)
          .atMost(Duration.ofMinutes(5))
          .until(
              () -> {
                membersRun(cluster);
                return clients.stream().allMatch(client -> client.calls() >= LEAST_CALLS);
              });
    }
    for (int i = 0; i < clients.size(); i++) {
      record(attack, took, i, clients.get(i).figures());
    }
    membersRun(cluster);
    for (NodeProcess member : cluster.members()) {
      assertThat(member.err().lines().filter(line -> line.contains(" ERROR "))).isEmpty();
    }
  }

  private static void membersRun(HostileCluster cluster) {
    for (NodeProcess member : cluster.members()) {
      assertThat(member.isAlive()).as(member.toString()).isTrue();
    }
  }

  private void record(
      NamedAttack attack, Duration took, int member, WellBehavedClient.Figures figures) {
    String row =
        String.format(
            Locale.ROOT,
            "| %s | %.1f | n%d | %d | %d | %d | %d | %d |",
            attack,
            took.toMillis() / 1000.0,
            member,
            figures.calls(),
            figures.p50Ms(),
            figures.p99Ms(),
            figures.maxMs(),
            figures.failures().size());
    rows.add(row);
    System.out.println(row);
    assertThat(figures.failures())
        .as("refusals that a client of etcd knows")
        .allMatch(failure -> String.valueOf(failure.getMessage()).contains("etcdserver: "));
  }

  private void write(int size, String heap) throws IOException {
    Path target = Files.createDirectories(Path.of("target", "hostile"));
    List<String> page = new ArrayList<>();
    page.add("| attack | took, s | client of | calls | p50 ms | p99 ms | max ms | refused |");
    page.add("|---|---|---|---|---|---|---|---|");
    page.addAll(rows);
    Files.write(target.resolve("members-" + size + "-heap-" + heap + ".md"), page);
  }
}
