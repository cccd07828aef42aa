package io.troupe.bench;

import io.troupe.bench.client.Endpoint;
import io.troupe.bench.client.EventLoops;
import io.troupe.bench.load.Keyspace;
import io.troupe.bench.load.Meter;
import io.troupe.bench.load.Profiles;
import io.troupe.bench.load.Target;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Figures;
import io.troupe.bench.server.Login;
import io.troupe.bench.server.ProcessUsage;
import io.troupe.bench.server.ServerCommand;
import io.troupe.bench.server.ServerDescription;
import io.troupe.bench.server.Servers;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * One run of all profiles on one server.
 *
 * @param server version and flags of the server
 * @param cells measurements in the order in which they were made
 * @param startMs process start to first linearizable read of all members, in milliseconds
 * @param idleRssBytes resident memory of all members together after that read
 * @param peakRssBytes maximum resident memory by the end
 */
record Round(
    String server, List<Cell> cells, double startMs, double idleRssBytes, double peakRssBytes) {

  private static final int REHEARSAL_KEYS = 10_000;

  /** Starts a fresh server, measures, stops it. */
  static Round of(ServerCommand command, BenchSettings settings, EventLoops loops) {
    try (Servers server =
        Servers.start(command, settings.workDir(), settings.members(), settings.tls())) {
      double startMs = server.awaitReady(loops) / 1e6;
      server.leadWith(settings.leader(), loops);
      long idle = server.usage().rssBytes();
      String description = ServerDescription.of(server.pid());
      System.out.println(command.name() + ": " + description);
      System.out.println(
          command.name()
              + ": ready after "
              + Figures.count(startMs)
              + " ms; load average "
              + MachineFacts.loadAverage());
      List<Cell> cells =
          measure(command.name(), settings, loops, reached(server, settings, loops), server::usage);
      return new Round(description, cells, startMs, idle, server.usage().peakRssBytes());
    }
  }

  /**
   * Starts a server, loads it without measuring, and stops it, so that the first round has the same
   * conditions as the others: Troupe has its class-data archive, and the generator's code is
   * compiled.
   */
  static void rehearse(ServerCommand command, BenchSettings settings, EventLoops loops) {
    System.out.println(command.name() + ": rehearsal");
    ArchiveMaking.run(command);
    try (Servers server =
        Servers.start(command, settings.workDir(), settings.members(), settings.tls())) {
      server.awaitReady(loops);
      server.leadWith(settings.leader(), loops);
      int keys = Math.min(settings.load().keys(), REHEARSAL_KEYS);
      Target target =
          target(settings, keys, loops, reached(server, settings, loops), server::usage);
      Profiles.fill(target);
      Profiles.warmUpServer(target, settings.serverWarmUp());
    }
  }

  /** The endpoints of the members, with a token if authentication is enabled. */
  static List<Endpoint> reached(Servers server, BenchSettings settings, EventLoops loops) {
    return settings.auth() ? Login.everywhere(loops, server.endpoints()) : server.endpoints();
  }

  /** The members of a server with {@code keys} keys. */
  static Target target(
      BenchSettings settings,
      int keys,
      EventLoops loops,
      List<Endpoint> endpoints,
      Supplier<ProcessUsage> usage) {
    Keyspace keyspace = new Keyspace(keys, settings.load().valueBytes(), settings.load().seed());
    return new Target(loops, endpoints, new Meter(usage), keyspace, settings.load());
  }

  /** Measures a running server. */
  static List<Cell> measure(
      String name,
      BenchSettings settings,
      EventLoops loops,
      List<Endpoint> endpoints,
      Supplier<ProcessUsage> usage) {
    Target target = target(settings, settings.load().keys(), loops, endpoints, usage);
    Profiles.fill(target);
    Profiles.warmUpServer(target, settings.serverWarmUp());
    List<Cell> cells = new ArrayList<>();
    for (String profile : settings.profiles()) {
      Profiles.run(
          profile,
          target,
          cell -> {
            cells.add(cell);
            System.out.println(name + ": " + line(cell));
          });
    }
    return cells;
  }

  private static String line(Cell cell) {
    return String.format(
        java.util.Locale.ROOT,
        "%-18s %-14s %10s/s  p50 %s p99 %s ms  cpu %s s/100k  rss %s MiB  client cpu %s  errors %d  other cores %s",
        cell.profile(),
        cell.load(),
        Figures.count(cell.opsPerSecond()),
        Figures.number(cell.latency().p50()),
        Figures.number(cell.latency().p99()),
        Figures.number(cell.serverCpuPer100k()),
        Figures.mebibytes(cell.serverRssBytes()),
        Figures.number(cell.clientCpuPer100k()),
        cell.errors(),
        Figures.number(cell.otherCores()));
  }
}
