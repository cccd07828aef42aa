package io.troupe.tests.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** The figures of a campaign as a table, for docs/campaigns. */
final class CampaignReport {
  private CampaignReport() {}

  static void write(Path file, long seed, CrashCampaign campaign) throws IOException {
    List<CrashCampaign.Figures> rounds = campaign.figures();
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "seed %d, rounds %d, acknowledged writes %d, without an answer %d (of them happened %d),"
                + " leases run out %d, snapshots %d, restart median %d ms, longest %d ms",
            seed,
            rounds.size(),
            sum(rounds, CrashCampaign.Figures::acknowledged),
            sum(rounds, CrashCampaign.Figures::unknown),
            sum(rounds, CrashCampaign.Figures::unknownHappened),
            campaign.check().expiries(),
            sum(rounds, CrashCampaign.Figures::snapshots),
            rounds.stream()
                .mapToLong(CrashCampaign.Figures::restartMs)
                .sorted()
                .skip(rounds.size() / 2)
                .findFirst()
                .orElse(0),
            rounds.stream().mapToLong(CrashCampaign.Figures::restartMs).max().orElse(0)));
    lines.add("");
    lines.add(
        "| round | JDK | end | load ms | acknowledged | no answer (happened) | snapshots |"
            + " new segments | oldest segment | restart ms | entries replayed | revision |");
    lines.add("|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (CrashCampaign.Figures f : rounds) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %d | %d | %s | %d | %d | %d (%d) | %d | %d | %d | %d | %s | %d |",
              f.round(),
              f.jdk(),
              f.ending(),
              f.loadMs(),
              f.acknowledged(),
              f.unknown(),
              f.unknownHappened(),
              f.snapshots(),
              f.newSegments(),
              f.oldestSegment(),
              f.restartMs(),
              f.replayed(),
              f.revision()));
    }
    Files.write(file, lines);
  }

  private static long sum(
      List<CrashCampaign.Figures> rounds, ToLongFunction<CrashCampaign.Figures> figure) {
    return rounds.stream().mapToLong(figure).sum();
  }
}
