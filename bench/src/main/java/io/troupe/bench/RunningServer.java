package io.troupe.bench;

import io.troupe.bench.client.Endpoint;
import io.troupe.bench.server.ProcessUsage;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A server that runs already: {@code --endpoint HOST:PORT[,...] [--pid PID]}.
 *
 * @param endpoints of its members
 * @param usage of the process {@code --pid}, or {@link ProcessUsage#UNKNOWN} without it
 */
record RunningServer(List<Endpoint> endpoints, Supplier<ProcessUsage> usage) {
  /** Returns true if the command line names one. */
  static boolean isNamed(Options options) {
    return options.has("endpoint");
  }

  static RunningServer of(Options options) {
    long pid = options.number("pid", -1);
    return new RunningServer(
        options.list("endpoint", List.of()).stream().map(Endpoint::parse).toList(),
        pid < 0 ? () -> ProcessUsage.UNKNOWN : () -> ProcessUsage.of(pid));
  }

  /** The endpoints, for a report. */
  String name() {
    return endpoints.stream().map(Endpoint::toString).collect(Collectors.joining(", "));
  }
}
