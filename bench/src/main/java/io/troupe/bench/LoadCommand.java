package io.troupe.bench;

import io.troupe.bench.client.EventLoops;
import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Comparison;
import io.troupe.bench.server.ServerCommand;
import java.util.ArrayList;
import java.util.List;

/** {@code bench load}: runs the profiles on one server, which is running already or is started. */
final class LoadCommand {
  private LoadCommand() {}

  static String run(Options options, BenchSettings settings) {
    List<Cell> cells = new ArrayList<>();
    String server;
    try (EventLoops loops = new EventLoops(settings.loops())) {
      if (RunningServer.isNamed(options)) {
        RunningServer running = RunningServer.of(options);
        server = running.name();
        cells.addAll(Round.measure(server, settings, loops, running.endpoints(), running.usage()));
      } else {
        ServerCommand command =
            options.has("etcd") ? ServerCommand.etcd(options.text("etcd", "")) : settings.troupe();
        Round.rehearse(command, settings, loops);
        Round round = Round.of(command, settings, loops);
        server = round.server();
        cells.addAll(round.cells());
      }
    }
    return "# Load on one server\n\n"
        + MachineFacts.list(settings.home(), settings.workDir())
        + "- server: "
        + server
        + settings.protection()
        + "\n\n"
        + Comparison.single(cells);
  }
}
