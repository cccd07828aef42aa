package io.troupe.bench;

import io.troupe.bench.client.EventLoops;
import io.troupe.bench.load.Keyspace;
import io.troupe.bench.load.LoadSettings;
import io.troupe.bench.load.Meter;
import io.troupe.bench.load.ScaleMeasurement;
import io.troupe.bench.load.Target;
import io.troupe.bench.report.Figures;
import io.troupe.bench.report.LogPlot;
import io.troupe.bench.report.ScalePoint;
import io.troupe.bench.report.ScaleRounds;
import io.troupe.bench.report.ScaleTable;
import io.troupe.bench.server.ServerCommand;
import io.troupe.bench.server.ServerDescription;
import io.troupe.bench.server.Servers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * {@code bench scale}: what requests cost, and what a server needs, as its state grows. Fills a
 * server to one size after the other and measures at each.
 */
final class ScaleCommand {
  private static final List<Integer> SIZES = List.of(100_000, 1_000_000, 10_000_000);

  private ScaleCommand() {}

  /**
   * The result.
   *
   * @param text Markdown, which refers to the plot by {@code plotName}
   * @param plot an SVG
   */
  record Result(String text, String plot) {}

  /** What a server is, and the errors of all its rounds. */
  private record About(String description, long errors) {
    About withErrorsOf(About other) {
      return new About(description, errors + other.errors);
    }
  }

  /**
   * Runs the command.
   *
   * @param plotName name of the plot's file, beside that of the text
   * @throws IllegalArgumentException if the sizes do not ascend, or the options exclude each other
   */
  static Result run(Options options, BenchSettings settings, String plotName) {
    List<Integer> sizes = sizes(options, settings.load());
    ScaleRounds rounds = new ScaleRounds();
    Map<String, About> servers = new LinkedHashMap<>();
    try (EventLoops loops = new EventLoops(settings.loops())) {
      if (RunningServer.isNamed(options)) {
        existing(options, settings, loops, rounds, servers);
        return result(options, settings, rounds, servers, plotName);
      }
      ArchiveMaking.run(settings.troupe());
      for (int round = 1; round <= rounds(options, settings); round++) {
        System.out.println("round " + round + " of " + rounds(options, settings));
        if (options.has("etcd")) {
          ServerCommand etcd = ServerCommand.etcd(options.text("etcd", ""));
          measure(etcd, options, settings, loops, sizes, rounds, servers);
        }
        measure(settings.troupe(), options, settings, loops, sizes, rounds, servers);
      }
    }
    return result(options, settings, rounds, servers, plotName);
  }

  /** One by default: a round may take hours. */
  private static int rounds(Options options, BenchSettings settings) {
    return options.has("rounds") ? settings.rounds() : 1;
  }

  private static Result result(
      Options options,
      BenchSettings settings,
      ScaleRounds rounds,
      Map<String, About> servers,
      String plotName) {
    String plot =
        LogPlot.svg("Cost against number of keys", "keys", ScaleTable.panels(rounds.medians()));
    return new Result(text(options, settings, rounds, servers, plotName), plot);
  }

  /** Measures a running server with the keys of an earlier fill, without restarts. */
  private static void existing(
      Options options,
      BenchSettings settings,
      EventLoops loops,
      ScaleRounds rounds,
      Map<String, About> servers) {
    RunningServer server = RunningServer.of(options);
    Keyspace unused = new Keyspace(1, settings.load().valueBytes(), settings.load().seed());
    ScaleMeasurement scale =
        new ScaleMeasurement(
            new Target(
                loops, server.endpoints(), new Meter(server.usage()), unused, settings.load()),
            false);
    int size = scale.adopt();
    scale.requests();
    if (options.has("pid")) {
      scale.add("resident memory", ScalePoint.MIB, mebibytes(server.usage().get().rssBytes()));
    }
    print("server", scale, size);
    rounds.add("server", scale.points());
    servers.put("server", new About(server.name(), scale.errors()));
  }

  /** Returns the sizes, and checks the other options of {@link #run} before a fill takes hours. */
  static List<Integer> sizes(Options options, LoadSettings load) {
    if (RunningServer.isNamed(options)) {
      for (String other : List.of("sizes", "sorted", "settle", "etcd", "rounds")) {
        if (options.has(other)) {
          throw new IllegalArgumentException(
              "--endpoint: measures that server as it is, without --" + other);
        }
      }
    }
    isSorted(options);
    settleTime(options);
    List<Integer> sizes = options.sizes("sizes", SIZES);
    long step = ScaleMeasurement.leastStep(load);
    int last = 0;
    for (int size : sizes) {
      if (size - last < step) {
        throw new IllegalArgumentException(
            "--sizes: ascending, each at least "
                + step
                + " more than the one before, not "
                + sizes);
      }
      last = size;
    }
    return sizes;
  }

  private static String about(Map<String, About> servers) {
    StringBuilder lines = new StringBuilder();
    servers.forEach(
        (name, about) ->
            lines
                .append("- ")
                .append(name)
                .append(": ")
                .append(about.description())
                .append("; errors: ")
                .append(about.errors())
                .append('\n'));
    return lines.toString();
  }

  private static boolean isSorted(Options options) {
    return options.isOn("sorted");
  }

  private static Duration settleTime(Options options) {
    return options.duration("settle", Duration.ZERO);
  }

  private static String text(
      Options options,
      BenchSettings settings,
      ScaleRounds rounds,
      Map<String, About> servers,
      String plotName) {
    return "# Cost against size\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + about(servers)
        + "- values: "
        + settings.load().valueBytes()
        + " B; members: "
        + settings.members()
        + (isSorted(options) ? "; keys written in their order" : "")
        + "; single requests at "
        + settings.load().rate()
        + "/s for "
        + settings.load().duration().toMillis()
        + " ms after "
        + settings.load().warmUp().toMillis()
        + " ms; pages and counts one after the other, each after a put of a new key"
        + "\n\np50 / p99, or a single value"
        + (rounds(options, settings) > 1
            ? "; medians of " + rounds(options, settings) + " rounds"
            : "")
        + ". The plot has the p50.\n\n![plot]("
        + plotName
        + ")\n\n"
        + ScaleTable.markdown(rounds.medians())
        + "\n"
        + rounds.growth();
  }

  private static void measure(
      ServerCommand command,
      Options options,
      BenchSettings settings,
      EventLoops loops,
      List<Integer> sizes,
      ScaleRounds rounds,
      Map<String, About> servers) {
    try (Servers server =
        Servers.start(command, settings.workDir(), settings.members(), settings.tls())) {
      server.awaitReady(loops);
      String description = ServerDescription.of(server.pid());
      Keyspace unused = new Keyspace(1, settings.load().valueBytes(), settings.load().seed());
      Target target =
          new Target(loops, server.endpoints(), new Meter(server::usage), unused, settings.load());
      ScaleMeasurement scale = new ScaleMeasurement(target, isSorted(options));
      Duration settle = settleTime(options);
      for (int size : sizes) {
        System.out.println(command.name() + ": filling to " + Figures.count((double) size));
        scale.add("fill", ScalePoint.PER_SECOND, scale.fill(size));
        if (!settle.isZero()) {
          scale.settle(settle);
        }
        scale.requests();
        scale.add("resident memory", ScalePoint.MIB, mebibytes(server.usage().rssBytes()));
        scale.add("bytes on disk", ScalePoint.MIB, mebibytes(server.diskBytes()));
        scale.add("restart after SIGTERM", ScalePoint.MS, server.restart(loops, false) / 1e6);
        scale.verify();
        scale.writeSome();
        scale.add("restart after kill -9", ScalePoint.MS, server.restart(loops, true) / 1e6);
        scale.verify();
        print(command.name(), scale, size);
      }
      rounds.add(command.name(), scale.points());
      servers.merge(command.name(), new About(description, scale.errors()), About::withErrorsOf);
    }
  }

  private static void print(String name, ScaleMeasurement scale, int size) {
    for (ScalePoint point : scale.points()) {
      if (point.size() == size) {
        System.out.println(
            name
                + ": "
                + point.measurement()
                + " "
                + Figures.number(point.value())
                + " / "
                + Figures.number(point.p99())
                + " "
                + point.unit());
      }
    }
    System.out.println(name + ": errors " + scale.errors());
  }

  private static double mebibytes(long bytes) {
    return bytes / (double) (1 << 20);
  }
}
