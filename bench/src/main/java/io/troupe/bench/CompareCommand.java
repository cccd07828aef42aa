package io.troupe.bench;

import io.troupe.bench.client.EventLoops;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Comparison;
import io.troupe.bench.report.Figures;
import io.troupe.bench.report.MarkdownTable;
import io.troupe.bench.report.Medians;
import io.troupe.bench.server.ServerCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * {@code bench --compare PATH}: measures another server and Troupe in turn, each alone on the
 * machine, for the given number of rounds.
 */
final class CompareCommand {
  private CompareCommand() {}

  static String run(Options options, BenchSettings settings) {
    ServerCommand other = ServerCommand.etcd(options.text("compare", ""));
    List<Round> others = new ArrayList<>();
    List<Round> ours = new ArrayList<>();
    try (EventLoops loops = new EventLoops(settings.loops())) {
      Round.rehearse(other, settings, loops);
      Round.rehearse(settings.troupe(), settings, loops);
      for (int round = 1; round <= settings.rounds(); round++) {
        System.out.println("round " + round + " of " + settings.rounds());
        others.add(Round.of(other, settings, loops));
        ours.add(Round.of(settings.troupe(), settings, loops));
      }
    }
    return report(settings, others, ours);
  }

  private static String report(BenchSettings settings, List<Round> others, List<Round> ours) {
    List<Cell> otherMedians = medians(others);
    List<Cell> ourMedians = medians(ours);
    return "# etcd and Troupe side by side\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + "- etcd: "
        + others.get(0).server()
        + "\n- troupe: "
        + ours.get(0).server()
        + "\n- load: "
        + describe(settings)
        + "\n\nMedians of "
        + settings.rounds()
        + " rounds, the servers in turn, each alone, with "
        + settings.members()
        + (settings.members() == 1 ? " member" : " members on this machine")
        + ", fresh data each time. Ratios are troupe / etcd: above 1 is better for ops/s,"
        + " below 1 for latency and CPU. Errors are sums. \"other cores\" is what neither server nor generator used, at worst.\n\n"
        + Comparison.sideBySide("etcd", otherMedians, "troupe", ourMedians)
        + "\n## Process\n\n"
        + process(others, ours)
        + "\n## etcd in full\n\n"
        + Comparison.single(otherMedians)
        + "\n## Troupe in full\n\n"
        + Comparison.single(ourMedians);
  }

  private static String describe(BenchSettings settings) {
    return settings.load().valueBytes()
        + " B values, "
        + Figures.count(settings.load().keys())
        + " keys, "
        + settings.load().duration().toMillis()
        + " ms after "
        + settings.load().warmUp().toMillis()
        + " ms warm-up, at most "
        + settings.load().maxConnections()
        + " connections, watch with "
        + settings.load().writers()
        + " writers at most "
        + settings.load().ahead()
        + " puts ahead, server warmed up for "
        + settings.serverWarmUp().toSeconds()
        + " s; paced puts "
        + settings.load().rate()
        + "/s, history "
        + Figures.count(settings.load().history())
        + " revisions"
        + settings.protection();
  }

  private static String process(List<Round> others, List<Round> ours) {
    MarkdownTable table = new MarkdownTable("", "start ms", "RSS MiB at start", "RSS MiB peak");
    row(table, "etcd", others);
    row(table, "troupe", ours);
    return table.toString();
  }

  private static void row(MarkdownTable table, String name, List<Round> rounds) {
    table.row(
        name,
        Figures.count(median(rounds, Round::startMs)),
        Figures.mebibytes(Math.round(median(rounds, Round::idleRssBytes))),
        Figures.mebibytes(Math.round(median(rounds, Round::peakRssBytes))));
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> figure) {
    return Medians.median(rounds.stream().mapToDouble(figure).toArray());
  }

  private static List<Cell> medians(List<Round> rounds) {
    return Medians.of(rounds.stream().flatMap(round -> round.cells().stream()).toList());
  }
}
