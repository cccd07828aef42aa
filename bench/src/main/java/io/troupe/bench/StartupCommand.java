package io.troupe.bench;

import io.troupe.bench.client.EventLoops;
import io.troupe.bench.report.Figures;
import io.troupe.bench.report.MarkdownTable;
import io.troupe.bench.report.Medians;
import io.troupe.bench.server.ProcessUsage;
import io.troupe.bench.server.ServerCommand;
import io.troupe.bench.server.ServerDescription;
import io.troupe.bench.server.Servers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * {@code bench startup}: measures process start to first linearizable read, on each JDK, with and
 * without a class-data archive.
 */
final class StartupCommand {
  private static final Path JVMS = Path.of("/usr/lib/jvm");
  private static final Set<Integer> MEASURED = Set.of(17, 25);

  private StartupCommand() {}

  /** One way to start a server, with its results. */
  private record Variant(
      String name,
      ServerCommand command,
      List<Double> startMs,
      List<Double> rss,
      List<Double> cpuSeconds) {
    Variant(String name, ServerCommand command) {
      this(name, command, new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }
  }

  static String run(Options options, BenchSettings settings) {
    int repeats = options.integer("repeats", 7);
    List<Variant> variants = variants(options, settings);
    try (EventLoops loops = new EventLoops(settings.loops())) {
      // Unmeasured: creates the archives, loads files into memory, compiles the generator's code.
      for (Variant variant : variants) {
        ArchiveMaking.run(variant.command());
        start(variant.command(), settings, loops);
      }
      for (int i = 0; i < repeats; i++) {
        for (Variant variant : variants) {
          measure(variant, settings, loops);
        }
      }
    }
    MarkdownTable table =
        new MarkdownTable("start", "median ms", "least ms", "most ms", "CPU-s", "RSS MiB");
    variants.forEach(variant -> row(table, variant));
    return "# Process start to first linearizable read\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + "\nMedian of "
        + repeats
        + " starts with fresh data, the variants in turn; members: "
        + settings.members()
        + ".\n\n"
        + table;
  }

  private static List<Variant> variants(Options options, BenchSettings settings) {
    List<Variant> variants = new ArrayList<>();
    try {
      for (Path home : jdks(options)) {
        String jdk = ServerDescription.jvm(home);
        String cache = Files.createDirectories(settings.workDir().resolve("archives")).toString();
        String java = home.toString();
        variants.add(
            new Variant(
                "troupe, " + jdk + ", no archive",
                settings
                    .troupe()
                    .with("troupe", Map.of("JAVA_HOME", java, "TROUPE_ARCHIVE", "off"))));
        variants.add(
            new Variant(
                "troupe, " + jdk + ", archive",
                settings
                    .troupe()
                    .with("troupe", Map.of("JAVA_HOME", java, "TROUPE_CACHE", cache))));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (options.has("etcd")) {
      variants.add(new Variant("etcd", ServerCommand.etcd(options.text("etcd", ""))));
    }
    return variants;
  }

  /** The JDKs of {@code --jdks}, otherwise the measured ones of this machine. */
  static List<Path> jdks(Options options) throws IOException {
    if (options.has("jdks")) {
      return options.list("jdks", List.of()).stream().map(Path::of).toList();
    }
    if (!Files.isDirectory(JVMS)) {
      return List.of(Path.of(System.getProperty("java.home")));
    }
    List<Path> homes = new ArrayList<>();
    Set<Path> seen = new HashSet<>();
    try (Stream<Path> entries = Files.list(JVMS)) {
      for (Path entry : entries.sorted().toList()) {
        Path home = entry.toRealPath();
        if (Files.isExecutable(home.resolve("bin/java"))
            && MEASURED.contains(ServerDescription.majorVersion(home))
            && seen.add(home)) {
          homes.add(home);
        }
      }
    }
    return homes;
  }

  private static void start(ServerCommand command, BenchSettings settings, EventLoops loops) {
    try (Servers server =
        Servers.start(command, settings.workDir(), settings.members(), settings.tls())) {
      server.awaitReady(loops);
    }
  }

  private static void measure(Variant variant, BenchSettings settings, EventLoops loops) {
    try (Servers server =
        Servers.start(variant.command(), settings.workDir(), settings.members(), settings.tls())) {
      double ms = server.awaitReady(loops) / 1e6;
      ProcessUsage usage = server.usage();
      variant.startMs().add(ms);
      variant.rss().add((double) usage.rssBytes());
      variant.cpuSeconds().add(usage.cpuSeconds());
      System.out.println(variant.name() + ": " + Figures.count(ms) + " ms");
    }
  }

  private static void row(MarkdownTable table, Variant variant) {
    table.row(
        variant.name(),
        Figures.count(median(variant.startMs())),
        Figures.count(variant.startMs().stream().mapToDouble(v -> v).min().orElse(Double.NaN)),
        Figures.count(variant.startMs().stream().mapToDouble(v -> v).max().orElse(Double.NaN)),
        Figures.number(median(variant.cpuSeconds())),
        Figures.mebibytes(Math.round(median(variant.rss()))));
  }

  private static double median(List<Double> values) {
    return Medians.median(values.stream().mapToDouble(v -> v).toArray());
  }
}
