package io.troupe.tests.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.tests.process.TestJdks;
import io.troupe.tests.process.TestJdks.Jdk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kills a member under load and compares everything afterwards. {@code -Dtroupe.crash.rounds}
 * (default 5) and {@code -Dtroupe.crash.seed} select other campaigns; a failed campaign keeps its
 * files under {@code target/crash}.
 */
@Tag("full")
class CrashCampaignIT {
  @Test
  void acknowledgedWritesLeasesCompactionAndWatchesSurviveKills() throws Exception {
    int rounds = Integer.getInteger("troupe.crash.rounds", 5);
    long seed = Long.getLong("troupe.crash.seed", System.nanoTime() & 0xffffff);
    List<Jdk> jdks = TestJdks.all();
    System.out.println("crash campaign seed=" + seed + " rounds=" + rounds + " jdks=" + jdks);
    Path directory = Path.of("target", "crash", "seed-" + seed).toAbsolutePath();
    if (Files.exists(directory)) {
      CrashCampaign.emptyDirectory(directory);
    }
    Files.createDirectories(directory);
    CrashCampaign campaign = new CrashCampaign(directory, jdks, seed);
    try {
      campaign.run(rounds);
    } finally {
      CampaignReport.write(directory.resolve("rounds.md"), seed, campaign);
    }
    assertThat(campaign.figures())
        .as("snapshots, new segments and deleted segments happen")
        .anyMatch(round -> round.snapshots() > 0)
        .anyMatch(round -> round.newSegments() > 0)
        .anyMatch(round -> round.oldestSegment() > 1);
    CrashCampaign.emptyDirectory(directory.resolve("data"));
  }
}
