package io.troupe.tests.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.simulation.check.LinearizabilityCheck.Verdict;
import io.troupe.testing.NeedsRoot;
import io.troupe.tests.process.Alone;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Clusters of three and of five members under load and faults, in rounds. {@code
 * -Dtroupe.cluster.seconds} (default 60, of all rounds together) and {@code -Dtroupe.cluster.seed}
 * select other campaigns; round n has the seed plus n, an even n three members, an odd one five. A
 * failed round keeps its logs, data and history under {@code target/cluster}.
 */
@Alone
@NeedsRoot
class ClusterCampaignIT {
  /** From this length on each seed injects faults on leaders. */
  private static final long LONG_SECONDS = 600;

  @Test
  void historiesOfClustersWithFaultsHold() throws Exception {
    long seconds = Long.getLong("troupe.cluster.seconds", 60);
    long longest = Long.getLong("troupe.cluster.round", 60);
    long first = Long.getLong("troupe.cluster.seed", System.nanoTime() & 0xffffff);
    Path target = Path.of("target", "cluster").toAbsolutePath();
    List<ClusterCampaign.Figures> rounds = new ArrayList<>();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    try {
      for (long seed = first; rounds.size() < 2 || System.nanoTime() < end; seed++) {
        int members = rounds.size() % 2 == 0 ? 3 : 5;
        long faults = Math.min(longest, seconds / 3);
        System.out.println("cluster campaign seed=" + seed + " members=" + members);
        Path directory = target.resolve("seed-" + seed);
        remove(directory);
        Files.createDirectories(directory);
        try {
          rounds.add(new ClusterCampaign(directory, seed, members).run(faults));
        } catch (Throwable e) {
          throw new AssertionError(
              "seed=" + seed + " members=" + members + " files=" + directory, e);
        }
        remove(directory);
        ClusterReport.write(target.resolve("rounds-" + first + ".md"), rounds);
      }
    } finally {
      ClusterReport.write(target.resolve("rounds-" + first + ".md"), rounds);
    }
    assertThat(rounds)
        .as("searches that came to an end")
        .allMatch(r -> r.verdict() == Verdict.HOLDS);
    assertThat(rounds).as("compactions happen").anyMatch(r -> r.compactions() > 0);
    if (seconds >= LONG_SECONDS) {
      assertThat(rounds).as("elections happen").anyMatch(r -> r.terms() > 3);
    }
  }

  static void remove(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }
}
