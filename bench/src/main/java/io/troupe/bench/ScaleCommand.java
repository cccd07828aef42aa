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

  /**
   * Runs the command.
   *
   * @param plotName name of the plot's file, beside that of the text
   * @throws IllegalArgumentException if the sizes do not ascend, or the options exclude each other
   */
  static Result run(Options options, BenchSettings settings, String plotName) {
    List<Integer> sizes = sizes(options, settings.load());
    Map<String, List<ScalePoint>> servers = new LinkedHashMap<>();
    StringBuilder facts = new StringBuilder();
    try (EventLoops loops = new EventLoops(settings.loops())) {
      if (RunningServer.isNamed(options)) {
        existing(options, settings, loops, servers, facts);
        return result(options, settings, servers, facts, plotName);
      }
      if (options.has("etcd")) {
        ServerCommand etcd = ServerCommand.etcd(options.text("etcd", ""));
        measure(etcd, options, settings, loops, sizes, servers, facts);
      }
      ArchiveMaking.run(settings.troupe());
      measure(settings.troupe(), options, settings, loops, sizes, servers, facts);
    }
    return result(options, settings, servers, facts, plotName);
  }

  private static Result result(
      Options options,
      BenchSettings settings,
      Map<String, List<ScalePoint>> servers,
      StringBuilder facts,
      String plotName) {
    String plot = LogPlot.svg("Cost against number of keys", "keys", ScaleTable.panels(servers));
    return new Result(text(options, settings, servers, facts, plotName), plot);
  }

  /** Measures a running server with the keys of an earlier fill, without restarts. */
  private static void existing(
      Options options,
      BenchSettings settings,
      EventLoops loops,
      Map<String, List<ScalePoint>> servers,
      StringBuilder facts) {
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
    servers.put("server", scale.points());
    facts.append("- server: ").append(server.name()).append("; errors: ").append(scale.errors());
    facts.append('\n');
  }

  /** Returns the sizes, and checks the other options of {@link #run} before a fill takes hours. */
  static List<Integer> sizes(Options options, LoadSettings load) {
    if (RunningServer.isNamed(options)) {
      for (String other : List.of("sizes", "sorted", "settle", "etcd")) {
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

  private static boolean isSorted(Options options) {
    return options.isOn("sorted");
  }

  private static Duration settleTime(Options options) {
    return options.duration("settle", Duration.ZERO);
  }

  private static String text(
      Options options,
      BenchSettings settings,
      Map<String, List<ScalePoint>> servers,
      StringBuilder facts,
      String plotName) {
    return "# Cost against size\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + facts
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
        + "\n\np50 / p99, or a single value. The plot has the p50.\n\n![plot]("
        + plotName
        + ")\n\n"
        + ScaleTable.markdown(servers);
  }

  private static void measure(
      ServerCommand command,
      Options options,
      BenchSettings settings,
      EventLoops loops,
      List<Integer> sizes,
      Map<String, List<ScalePoint>> servers,
      StringBuilder facts) {
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
      servers.put(command.name(), scale.points());
      facts
          .append("- ")
          .append(command.name())
          .append(": ")
          .append(description)
          .append("; errors: ")
          .append(scale.errors())
          .append('\n');
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
