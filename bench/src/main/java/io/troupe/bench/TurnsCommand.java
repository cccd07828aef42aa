package io.troupe.bench;

import io.troupe.bench.client.EventLoops;
import io.troupe.bench.load.Profiles;
import io.troupe.bench.load.Target;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Turns;
import io.troupe.bench.server.ServerCommand;
import io.troupe.bench.server.ServerDescription;
import io.troupe.bench.server.Servers;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * {@code bench turns}: servers that all live take the load in turns of a few seconds. So a machine
 * whose speed changes within a minute slows them down alike. The servers without load use what idle
 * servers use.
 */
final class TurnsCommand {
  private static final String ETCD = "etcd";

  private TurnsCommand() {}

  /** A server that lives until the end. */
  private record Live(String name, Servers servers, Target target) {}

  /**
   * Runs the command.
   *
   * @throws IllegalArgumentException if there are fewer than two servers
   */
  static String run(Options options, BenchSettings settings) {
    List<String> names = names(options);
    List<ServerCommand> commands =
        names.stream().map(name -> command(name, options, settings)).toList();
    List<Live> live = new ArrayList<>();
    Turns turns = new Turns(names);
    StringBuilder servers = new StringBuilder();
    try (EventLoops loops = new EventLoops(settings.loops())) {
      commands.forEach(ArchiveMaking::run);
      for (int i = 0; i < commands.size(); i++) {
        live.add(start(names.get(i), commands.get(i), settings, loops));
        servers
            .append("- ")
            .append(names.get(i))
            .append(": ")
            .append(ServerDescription.of(live.get(i).servers().pid()))
            .append('\n');
      }
      live.forEach(server -> warmUp(server, settings));
      for (String profile : settings.profiles()) {
        for (int round = 0; round < settings.rounds(); round++) {
          measure(profile, live, turns);
          // The next round has the other order: neither server is always the first.
          Collections.reverse(live);
        }
        System.out.println(profile + ": " + settings.rounds() + " turns each");
      }
    } finally {
      live.forEach(server -> server.servers().close());
    }
    return "# Servers in turn\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + servers
        + "\nAll servers live at the same time, with "
        + settings.members()
        + (settings.members() == 1 ? " member" : " members")
        + " each, and take the load in "
        + settings.rounds()
        + " turns of "
        + settings.load().duration().toMillis()
        + " ms after "
        + settings.load().warmUp().toMillis()
        + " ms without measurement; "
        + settings.load().valueBytes()
        + " B values, server warm-up "
        + settings.serverWarmUp().toSeconds()
        + " s. Medians of the turns; ratios to "
        + names.get(0)
        + " are medians of the ratios of neighbouring turns, with their quartiles.\n\n"
        + turns.markdown();
  }

  private static Live start(
      String name, ServerCommand command, BenchSettings settings, EventLoops loops) {
    Servers servers =
        Servers.start(command, settings.workDir(), settings.members(), settings.tls());
    try {
      servers.awaitReady(loops);
      servers.leadWith(settings.leader(), loops);
      return new Live(
          name,
          servers,
          Round.target(
              settings,
              settings.load().keys(),
              loops,
              Round.reached(servers, settings, loops),
              servers::usage));
    } catch (RuntimeException failed) {
      servers.close();
      throw failed;
    }
  }

  private static void warmUp(Live server, BenchSettings settings) {
    System.out.println(server.name() + ": warm-up");
    Profiles.fill(server.target());
    Profiles.warmUpServer(server.target(), settings.serverWarmUp());
  }

  private static void measure(String profile, List<Live> live, Turns turns) {
    for (Live server : live) {
      List<Cell> cells = new ArrayList<>();
      Profiles.run(profile, server.target(), cells::add);
      turns.add(server.name(), cells);
    }
  }

  /** etcd's name, with which builds are compared if it is there, and theirs; each at most once. */
  private static List<String> names(Options options) {
    List<String> names = new ArrayList<>();
    if (options.has(ETCD)) {
      names.add(ETCD);
    }
    names.addAll(options.list("builds", List.of()));
    if (names.size() < 2 || names.stream().distinct().count() < names.size()) {
      throw new IllegalArgumentException(
          "turns: two or more different servers, --builds CMD,CMD or --builds CMD --etcd PATH, not "
              + names);
    }
    return names;
  }

  private static ServerCommand command(String name, Options options, BenchSettings settings) {
    return name.equals(ETCD)
        ? ServerCommand.etcd(options.text(ETCD, ""))
        : ServerCommand.troupe(name).with("troupe", settings.troupe().environment());
  }
}
