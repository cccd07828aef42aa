package io.troupe.bench;

import io.troupe.bench.client.EventLoops;
import io.troupe.bench.load.Keyspace;
import io.troupe.bench.load.Meter;
import io.troupe.bench.load.Profiles;
import io.troupe.bench.load.Target;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Figures;
import io.troupe.bench.report.MarkdownTable;
import io.troupe.bench.report.Medians;
import io.troupe.bench.server.ServerCommand;
import io.troupe.bench.server.ServerDescription;
import io.troupe.bench.server.Servers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code bench cold}: what a fresh server does in its first minute. Each run starts a server and
 * loads it from the moment at which it is ready, in windows that follow each other.
 */
final class ColdCommand {
  private static final List<Integer> WINDOW_ENDS = List.of(10, 20, 40, 60);
  private static final int GENERATOR_WARM_UP_SECONDS = 10;
  private static final List<String> PROFILES = List.of("put", "range", "kubernetes");

  private ColdCommand() {}

  /** One server command and one profile, with the results of its runs. */
  private record Variant(String name, ServerCommand command, String profile, List<Run> runs) {}

  /** One run: until ready, then a cell for each window. */
  private record Run(double startMs, double startCpuSeconds, List<Cell> windows) {}

  static String run(Options options, BenchSettings settings) {
    List<Integer> ends = options.integers("windows", WINDOW_ENDS);
    requireAscending(ends);
    int clients = options.integers("clients", List.of(100)).get(0);
    List<Variant> variants = variants(options, settings);
    try (EventLoops loops = new EventLoops(settings.loops())) {
      for (Variant variant : variants) {
        // Unmeasured: creates the archive, and compiles the generator's code.
        ArchiveMaking.run(variant.command());
        int seconds = Math.max(ends.get(0), GENERATOR_WARM_UP_SECONDS);
        measure(variant, settings, loops, List.of(seconds), clients);
      }
      for (int i = 0; i < settings.rounds(); i++) {
        for (Variant variant : variants) {
          Run run = measure(variant, settings, loops, ends, clients);
          variant.runs().add(run);
          System.out.println(variant.name() + ", " + variant.profile() + ": " + line(run));
        }
      }
    }
    return "# The first minute of a fresh server\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + "\nMedians of "
        + settings.rounds()
        + " runs, the servers in turn; "
        + clients
        + " clients; members: "
        + settings.members()
        + ". Operations per second in windows after the first linearizable read.\n\n"
        + table(variants, ends);
  }

  private static void requireAscending(List<Integer> ends) {
    int last = 0;
    for (int end : ends) {
      if (end <= last) {
        throw new IllegalArgumentException("--windows: ascending seconds, not " + ends);
      }
      last = end;
    }
    if (ends.isEmpty()) {
      throw new IllegalArgumentException("--windows: one or more");
    }
  }

  private static List<Variant> variants(Options options, BenchSettings settings) {
    List<Variant> variants = new ArrayList<>();
    List<String> profiles = options.list("profiles", List.of("put"));
    if (!PROFILES.containsAll(profiles)) {
      throw new IllegalArgumentException("--profiles: of " + PROFILES + ", not " + profiles);
    }
    List<String> builds =
        options.list("builds", List.of(String.join(" ", settings.troupe().program())));
    for (String profile : profiles) {
      for (Path home : jdks(options)) {
        String jvm = jvm(home);
        for (String build : builds) {
          String name = build + ", " + jvm;
          ServerCommand command =
              ServerCommand.troupe(build).with("troupe", Map.of("JAVA_HOME", home.toString()));
          variants.add(new Variant(name, command, profile, new ArrayList<>()));
        }
      }
      if (options.has("etcd")) {
        ServerCommand etcd = ServerCommand.etcd(options.text("etcd", ""));
        variants.add(new Variant("etcd", etcd, profile, new ArrayList<>()));
      }
    }
    return variants;
  }

  private static List<Path> jdks(Options options) {
    try {
      return StartupCommand.jdks(options);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String jvm(Path home) {
    try {
      return ServerDescription.jvm(home);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Run measure(
      Variant variant, BenchSettings settings, EventLoops loops, List<Integer> ends, int clients) {
    try (Servers server =
        Servers.start(variant.command(), settings.workDir(), settings.members(), settings.tls())) {
      double startMs = server.awaitReady(loops) / 1e6;
      double cpuSeconds = server.usage().cpuSeconds();
      Keyspace keyspace =
          new Keyspace(
              settings.load().keys(), settings.load().valueBytes(), settings.load().seed());
      Meter meter = new Meter(server::usage);
      List<Cell> windows = new ArrayList<>();
      int from = 0;
      for (int end : ends) {
        Target target =
            new Target(
                loops,
                server.endpoints(),
                meter,
                keyspace,
                settings.load().window(clients, Duration.ofSeconds((long) end - from)));
        if (from == 0) {
          Profiles.prepare(variant.profile(), target);
        }
        List<Cell> cells = new ArrayList<>();
        Profiles.run(variant.profile(), target, cells::add);
        // The first one is that of all requests; those of single kinds follow.
        windows.add(cells.get(0));
        from = end;
      }
      return new Run(startMs, cpuSeconds, windows);
    }
  }

  private static String line(Run run) {
    StringBuilder text = new StringBuilder("ready after " + Figures.count(run.startMs()) + " ms");
    run.windows().forEach(cell -> text.append(", ").append(Figures.count(cell.opsPerSecond())));
    return text + " /s";
  }

  private static String table(List<Variant> variants, List<Integer> ends) {
    List<String> header =
        new ArrayList<>(List.of("server", "profile", "ready ms", "CPU-s until ready"));
    int from = 0;
    for (int end : ends) {
      header.add(from + "-" + end + " s");
      from = end;
    }
    header.addAll(List.of("CPU-s per 100k, all windows", "p99 ms, last window", "errors"));
    MarkdownTable table = new MarkdownTable(header.toArray(String[]::new));
    for (Variant variant : variants) {
      List<String> row = new ArrayList<>(List.of(variant.name(), variant.profile()));
      row.add(Figures.count(median(variant.runs().stream().map(Run::startMs).toList())));
      row.add(Figures.number(median(variant.runs().stream().map(Run::startCpuSeconds).toList())));
      for (int i = 0; i < ends.size(); i++) {
        int window = i;
        row.add(
            Figures.count(
                median(
                    variant.runs().stream()
                        .map(run -> run.windows().get(window).opsPerSecond())
                        .toList())));
      }
      row.add(Figures.number(median(variant.runs().stream().map(run -> cpu(run, ends)).toList())));
      row.add(
          Figures.number(
              median(
                  variant.runs().stream()
                      .map(run -> run.windows().get(ends.size() - 1).latency().p99())
                      .toList())));
      row.add(
          Long.toString(
              variant.runs().stream()
                  .flatMap(run -> run.windows().stream())
                  .mapToLong(Cell::errors)
                  .sum()));
      table.row(row.toArray(String[]::new));
    }
    return table.toString();
  }

  /** CPU-seconds per 100,000 operations of all windows together. */
  private static double cpu(Run run, List<Integer> ends) {
    double cpuSeconds = 0;
    double operations = 0;
    int from = 0;
    for (int i = 0; i < ends.size(); i++) {
      Cell cell = run.windows().get(i);
      double count = cell.opsPerSecond() * (ends.get(i) - from);
      cpuSeconds += cell.serverCpuPer100k() * count / 1e5;
      operations += count;
      from = ends.get(i);
    }
    return cpuSeconds / operations * 1e5;
  }

  private static double median(List<Double> values) {
    return Medians.median(values.stream().mapToDouble(v -> v).toArray());
  }
}
