package io.troupe.simulation;

import io.troupe.simulation.world.Coverage;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Runs many seeds and records the results. Arguments: first seed, number of seeds, virtual seconds
 * with faults in each, and optionally a file for the page of the campaign, written again every
 * {@value #PAGE_EVERY} seeds, and a number of failures after which to stop (default 1). The exit
 * code is 1 if a seed failed.
 */
public final class CampaignMain {
  private static final int PAGE_EVERY = 100;

  private CampaignMain() {}

  /** See above. */
  public static void main(String[] args) throws IOException {
    if (args.length < 3) {
      System.err.println("arguments: first-seed seeds fault-seconds [page] [failures]");
      System.exit(2);
    }
    Path page = args.length > 3 && !args[3].equals("-") ? Path.of(args[3]) : null;
    int most = args.length > 4 ? Integer.parseInt(args[4]) : 1;
    Campaign campaign =
        Campaign.run(
            Long.parseLong(args[0]),
            Long.parseLong(args[1]),
            Integer.parseInt(args[2]),
            most,
            System.out,
            page);
    System.exit(campaign.failures().isEmpty() ? 0 : 1);
  }

  /**
   * Results of a campaign.
   *
   * @param seeds number of seeds that ran
   * @param faultSeconds virtual seconds with faults in each
   * @param virtualUs virtual time of the seeds that passed
   * @param realMs real time
   * @param coverage counted events of all seeds that passed
   * @param failures one line for each seed that failed
   */
  record Campaign(
      long firstSeed,
      long seeds,
      int faultSeconds,
      long virtualUs,
      long realMs,
      Coverage coverage,
      List<String> failures) {

    static Campaign run(
        long firstSeed,
        long count,
        int faultSeconds,
        int mostFailures,
        PrintStream out,
        @Nullable Path page)
        throws IOException {
      Coverage coverage = new Coverage();
      List<String> failures = new ArrayList<>();
      long virtualUs = 0;
      long started = System.nanoTime();
      long seeds = 0;
      for (long seed = firstSeed; seed < firstSeed + count; seed++) {
        if (seeds % PAGE_EVERY == 0) {
          campaign(firstSeed, seeds, faultSeconds, virtualUs, started, coverage, failures)
              .write(page);
        }
        seeds++;
        try {
          Simulation.Outcome outcome = Simulation.run(seed, faultSeconds, false);
          coverage.add(outcome.coverage());
          virtualUs += outcome.virtualUs();
        } catch (Simulation.Failure failure) {
          out.println(failure.getMessage());
          String text = String.valueOf(failure.getMessage());
          failures.add(text.substring(0, Math.min(300, text.indexOf('\n'))));
          if (failures.size() >= mostFailures) {
            break;
          }
        }
      }
      Campaign campaign =
          campaign(firstSeed, seeds, faultSeconds, virtualUs, started, coverage, failures);
      campaign.write(page);
      out.println(campaign.page());
      return campaign;
    }

    private static Campaign campaign(
        long firstSeed,
        long seeds,
        int faultSeconds,
        long virtualUs,
        long started,
        Coverage coverage,
        List<String> failures) {
      long realMs = (System.nanoTime() - started) / 1_000_000;
      return new Campaign(
          firstSeed, seeds, faultSeconds, virtualUs, realMs, coverage, List.copyOf(failures));
    }

    private void write(@Nullable Path page) throws IOException {
      if (page != null) {
        Files.writeString(page, page(), StandardCharsets.UTF_8);
      }
    }

    /** The page for docs/campaigns. */
    String page() {
      StringBuilder page = new StringBuilder();
      page.append(
          String.format(
              Locale.ROOT,
              "Seeds %d to %d, %d virtual seconds with faults in each, %.1f virtual hours in all,"
                  + " %d s of real time, %d failures.%n%n",
              firstSeed,
              firstSeed + seeds - 1,
              faultSeconds,
              virtualUs / 3.6e9,
              realMs / 1000,
              failures.size()));
      failures.forEach(line -> page.append("- ").append(line).append('\n'));
      page.append("\n| what happened | times |\n|---|---|\n");
      for (Map.Entry<String, Long> each : coverage.all().entrySet()) {
        page.append("| ")
            .append(each.getKey())
            .append(" | ")
            .append(each.getValue())
            .append(" |\n");
      }
      return page.toString();
    }
  }
}
