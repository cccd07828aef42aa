package io.troupe.actors.member;

import static java.util.stream.Collectors.counting;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.actors.peers.GenuineConnections;
import io.troupe.actors.peers.LoopbackProxy;
import io.troupe.actors.peers.PeerPortFuzz;
import io.troupe.actors.peers.TestTls;
import io.troupe.testing.FreePort;
import io.troupe.testing.LoggedLines;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three members whose peer ports receive malformed input: they continue serving and keep no memory
 * of it. {@code -Dtroupe.fuzz.inputs} sets the number of inputs, {@code -Dtroupe.fuzz.seed} the
 * seed. Long runs are recorded in docs/campaigns.
 */
@Tag("full")
class PeerPortFuzzTest {
  private static final int INPUTS = Integer.getInteger("troupe.fuzz.inputs", 600);
  private static final long SEED = Long.getLong("troupe.fuzz.seed", 20261122);
  private static final int PUT_EVERY = 300;
  private static final long MIB = 1 << 20;

  /**
   * Resources of this process.
   *
   * @param files number of open files, by kind; tables of RocksDB change with the writes
   */
  private record Held(long heapBytes, int threads, Map<String, Long> files) {
    static Held now() {
      long least = Long.MAX_VALUE;
      for (int i = 0; i < 5; i++) {
        System.gc();
        least = Math.min(least, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
      }
      return new Held(least, ManagementFactory.getThreadMXBean().getThreadCount(), openFiles());
    }

    private static Map<String, Long> openFiles() {
      return Stream.of(Objects.requireNonNull(new File("/proc/self/fd").list()))
          .map(Held::target)
          .filter(name -> !name.endsWith(".sst"))
          // Sockets by their kind, files by their place without numbers.
          .collect(Collectors.groupingBy(name -> name.replaceAll("[0-9]+", "#"), counting()));
    }

    private static String target(String fd) {
      try {
        return Files.readSymbolicLink(Path.of("/proc/self/fd", fd)).toString();
      } catch (IOException closed) {
        // Closed since the listing.
        return "closed.sst";
      }
    }

    long count() {
      return files.values().stream().mapToLong(Long::longValue).sum();
    }
  }

  private final Path temp;

  PeerPortFuzzTest(@TempDir Path temp) {
    this.temp = temp;
  }

  @Test
  void withoutTls() throws Exception {
    survives(null);
  }

  @Test
  void withTls() throws Exception {
    survives(new TestTls("members"));
  }

  private void survives(@Nullable TestTls engines) throws Exception {
    List<Integer> ports = IntStream.range(0, 3).mapToObj(i -> FreePort.next()).toList();
    try (TestMembers members =
        TestMembers.startBehindProxies(temp, ports, new TestMember.Options(200, 0), engines)) {
      // With pieces of long messages, and a snapshot.
      TestMember away = members.follower();
      away.close();
      for (int i = 0; i < 300; i++) {
        TestMembers.put(members.leader(), "before", new byte[i % 50 == 0 ? 200_000 : 100]);
      }
      away.start();
      TestMembers.put(away, "before", new byte[10]);
      List<List<byte[]>> genuine = members.proxies().stream().map(LoopbackProxy::recorded).toList();
      TestMembers.put(members.follower(), "warm", new byte[10]);

      Held before = Held.now();
      long start = System.nanoTime();
      long slowest = 0;
      int inputs = 0;
      long connections;
      List<String> lines;
      long handshakes = engines == null ? 0 : engines.handshakes();
      try (LoggedLines log = new LoggedLines();
          PeerPortFuzz fuzz = new PeerPortFuzz(SEED, ports, genuine, engines != null);
          PeerPortFuzz behind = engines == null ? fuzz : behind(engines, ports, members)) {
        int puts = 0;
        for (int turn = 0; inputs < INPUTS; turn++) {
          inputs += (turn % 2 == 0 ? fuzz : behind).step();
          if (inputs / PUT_EVERY >= puts) {
            puts++;
            long asked = System.nanoTime();
            TestMembers.put(members.get(puts % 3), "k" + puts % 100, new byte[100]);
            slowest = Math.max(slowest, System.nanoTime() - asked);
          }
        }
        connections = fuzz.connections() + (behind == fuzz ? 0 : behind.connections());
        lines = log.texts();
      }
      Duration took = Duration.ofNanos(System.nanoTime() - start);
      Held[] after = {Held.now()};
      String figures =
          ("tls=%s seed=%d inputs=%d connections=%d handshakes=%d seconds=%d slowest-put-ms=%d"
                  + " log-lines=%d")
              .formatted(
                  engines != null,
                  SEED,
                  inputs,
                  connections,
                  engines == null ? 0 : engines.handshakes() - handshakes,
                  took.toSeconds(),
                  slowest / 1_000_000,
                  lines.size());
      Awaitility.await(figures)
          .atMost(Duration.ofSeconds(30))
          .untilAsserted(
              () -> {
                after[0] = Held.now();
                // Members reply to some inputs over links that stay open for a minute. Each has six
                // files: four sockets, because a proxy is between its ends, and a selector.
                assertThat(after[0].count())
                    .as("files before=%s after=%s", before.files(), after[0].files())
                    .isLessThanOrEqualTo(before.count() + 40);
                assertThat(after[0].threads()).isLessThanOrEqualTo(before.threads() + 20);
                assertThat(after[0].heapBytes()).isLessThanOrEqualTo(before.heapBytes() + 32 * MIB);
              });
      System.out.println(figures + " before=" + before + " after=" + after[0]);
      // A few kinds of lines, each at most once a minute on each member.
      assertThat(lines).hasSizeLessThan(40 * (2 + (int) took.toMinutes()));
      assertThat(lines).noneMatch(line -> line.startsWith("ERROR"));
      membersWorkAsBefore(members);
    }
  }

  private static PeerPortFuzz behind(TestTls engines, List<Integer> ports, TestMembers members) {
    List<List<byte[]>> said =
        IntStream.range(0, ports.size())
            .mapToObj(
                to ->
                    GenuineConnections.to(
                        members.get(to).id,
                        members.get((to + 1) % ports.size()).id,
                        "https://127.0.0.1:"
                            + members.proxies().get((to + 1) % ports.size()).port()))
            .toList();
    return PeerPortFuzz.behindTls(SEED + 1, ports, said, engines.sockets());
  }

  /** One member is stopped and restarted; all take writes and have equal content in the end. */
  private static void membersWorkAsBefore(TestMembers members) throws InterruptedException {
    TestMember gone = members.leader();
    gone.close();
    TestMembers.put(members.follower(), "after", new byte[10]);
    gone.start();
    for (TestMember member : members.all()) {
      TestMembers.put(member, "after", new byte[10]);
      assertThat(member.broken).isEmpty();
    }
    TestMembers.await(
        "equal members",
        () ->
            members.all().stream().map(member -> member.refs().state().hashKv(0)).distinct().count()
                == 1);
  }
}
