package io.troupe.bench;

import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EventLoops;
import io.troupe.bench.load.Keyspace;
import io.troupe.bench.load.Meter;
import io.troupe.bench.load.Profiles;
import io.troupe.bench.load.SnapshotStream;
import io.troupe.bench.load.Target;
import io.troupe.bench.report.Figures;
import io.troupe.bench.report.MarkdownTable;
import io.troupe.bench.report.Medians;
import io.troupe.bench.server.DataDirectory;
import io.troupe.bench.server.Servers;
import io.troupe.bench.server.ToolRun;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * {@code bench restore}: how fast a saved snapshot becomes a data directory, and how much memory
 * that needs. The snapshot is a given file, or one of a server that is filled for it.
 */
final class RestoreCommand {
  private RestoreCommand() {}

  /** One restore: the run of the program and the size of what it wrote. */
  private record Restore(ToolRun run, long dataBytes) {}

  static String run(Options options, BenchSettings settings) {
    Path work = settings.workDir();
    try {
      Files.createDirectories(work);
      Path own = work.resolve("restore-" + ProcessHandle.current().pid() + ".db");
      Path snapshot = options.has("snapshot") ? Path.of(options.text("snapshot", "")) : own;
      try {
        if (snapshot.equals(own)) {
          save(settings, own);
        }
        return report(settings, snapshot, measure(options, settings, snapshot));
      } finally {
        Files.deleteIfExists(own);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void save(BenchSettings settings, Path file) {
    ArchiveMaking.run(settings.troupe());
    try (EventLoops loops = new EventLoops(settings.loops());
        Servers server = Servers.start(settings.troupe(), settings.workDir(), 1, false)) {
      server.awaitReady(loops);
      Keyspace keyspace =
          new Keyspace(
              settings.load().keys(), settings.load().valueBytes(), settings.load().seed());
      Profiles.fill(
          new Target(
              loops, server.endpoints(), new Meter(server::usage), keyspace, settings.load()));
      try (Connections connection = new Connections(loops, server.endpoints(), 1)) {
        SnapshotStream.save(connection, file);
      }
    }
  }

  private static Map<String, List<Restore>> measure(
      Options options, BenchSettings settings, Path snapshot) throws IOException {
    Map<String, String> tools = new LinkedHashMap<>();
    tools.put("troupe", options.text("ctl", settings.home().resolve("bin/ctl").toString()));
    if (options.has("etcdutl")) {
      tools.put("etcdutl", options.text("etcdutl", ""));
    }
    Map<String, List<Restore>> results = new LinkedHashMap<>();
    for (int round = 1; round <= settings.rounds(); round++) {
      for (Map.Entry<String, String> tool : tools.entrySet()) {
        Restore restore = restore(tool.getValue(), settings.workDir(), snapshot);
        results.computeIfAbsent(tool.getKey(), name -> new ArrayList<>()).add(restore);
        System.out.println(tool.getKey() + ": " + Figures.number(restore.run().seconds()) + " s");
      }
    }
    return results;
  }

  private static Restore restore(String program, Path work, Path snapshot) throws IOException {
    Path directory = Files.createTempDirectory(work, "restore");
    try {
      Path data = directory.resolve("data");
      ToolRun run =
          ToolRun.of(
              List.of(program, "snapshot", "restore", snapshot.toString(), "--data-dir=" + data),
              directory.resolve("log"));
      return new Restore(run, DataDirectory.bytes(data));
    } finally {
      DataDirectory.delete(directory);
    }
  }

  private static String report(
      BenchSettings settings, Path snapshot, Map<String, List<Restore>> results)
      throws IOException {
    double bytes = Files.size(snapshot);
    MarkdownTable table =
        new MarkdownTable("program", "s", "MB/s", "CPU-s", "highest RSS MiB", "written MiB");
    results.forEach(
        (tool, restores) -> {
          double seconds = median(restores, restore -> restore.run().seconds());
          table.row(
              tool,
              Figures.number(seconds),
              Figures.number(bytes / 1e6 / seconds),
              Figures.number(median(restores, restore -> restore.run().cpuSeconds())),
              Figures.mebibytes(
                  Math.round(median(restores, restore -> restore.run().peakRssBytes()))),
              Figures.mebibytes(Math.round(median(restores, Restore::dataBytes))));
        });
    return "# Restore of a snapshot\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + "- snapshot: "
        + Figures.mebibytes(Math.round(bytes))
        + " MiB\n\nMedians of "
        + settings.rounds()
        + " runs of `snapshot restore`, the programs in turn, from process start to exit. MB are"
        + " those of the snapshot.\n\n"
        + table;
  }

  private static double median(List<Restore> restores, ToDoubleFunction<Restore> figure) {
    return Medians.median(restores.stream().mapToDouble(figure).toArray());
  }
}
