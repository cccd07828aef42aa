package io.troupe.tests.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;

/** The figures of a campaign, for docs/campaigns. */
final class ClusterReport {
  private ClusterReport() {}

  static void write(Path file, List<ClusterCampaign.Figures> rounds) throws IOException {
    Files.createDirectories(file.getParent());
    List<String> lines = new ArrayList<>();
    lines.add(
        String.format(
            Locale.ROOT,
            "Rounds %d, seconds with faults %d, calls answered %d, refused %d, without an answer %d,"
                + " revisions %d, terms %d, watch events %d over %d streams, renewals of leases %d,"
                + " leases that ran out while their owner asked %d, snapshots received %d, compactions"
                + " %d, watchers that they ended %d, longest"
                + " time from the last fault until every member served %d ms.",
            rounds.size(),
            sum(rounds, ClusterCampaign.Figures::seconds),
            sum(rounds, ClusterCampaign.Figures::answered),
            sum(rounds, ClusterCampaign.Figures::refused),
            sum(rounds, ClusterCampaign.Figures::unknown),
            sum(rounds, ClusterCampaign.Figures::revision),
            sum(rounds, ClusterCampaign.Figures::terms),
            sum(rounds, ClusterCampaign.Figures::watchEvents),
            sum(rounds, ClusterCampaign.Figures::streams),
            sum(rounds, ClusterCampaign.Figures::renewals),
            sum(rounds, ClusterCampaign.Figures::leasesGone),
            sum(rounds, ClusterCampaign.Figures::snapshotsReceived),
            sum(rounds, ClusterCampaign.Figures::compactions),
            sum(rounds, ClusterCampaign.Figures::watchersCompacted),
            rounds.stream().mapToLong(ClusterCampaign.Figures::recoveryMs).max().orElse(0)));
    lines.add("");
    lines.add(
        Arrays.stream(Fault.values())
            .map(fault -> fault + " " + sum(rounds, r -> r.faults().getOrDefault(fault, 0)))
            .collect(Collectors.joining(", ", "Faults: ", ".")));
    lines.add("");
    lines.add(
        "| seed | members | seconds | answered | refused | no answer | revision | terms |"
            + " watch events | snapshots received | compactions | faults | recovery ms | verdict |");
    lines.add("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (ClusterCampaign.Figures f : rounds) {
      lines.add(
          String.format(
              Locale.ROOT,
              "| %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s |",
              f.seed(),
              f.members(),
              f.seconds(),
              f.answered(),
              f.refused(),
              f.unknown(),
              f.revision(),
              f.terms(),
              f.watchEvents(),
              f.snapshotsReceived(),
              f.compactions(),
              f.faults().values().stream().mapToInt(Integer::intValue).sum(),
              f.recoveryMs(),
              f.verdict()));
    }
    Files.write(file, lines);
  }

  private static long sum(
      List<ClusterCampaign.Figures> rounds, ToLongFunction<ClusterCampaign.Figures> figure) {
    return rounds.stream().mapToLong(figure).sum();
  }
}
