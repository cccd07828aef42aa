package io.troupe.bench.load;

import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Latency;
import io.troupe.bench.server.MachineUsage;
import io.troupe.bench.server.ProcessUsage;
import java.util.List;
import java.util.function.Supplier;

/** What server, generator and machine used between two moments. */
public final class Meter {
  private static final double BASE = 100_000;

  private final Supplier<ProcessUsage> server;

  /** What was used up to a moment. */
  record Sample(long nanos, ProcessUsage server, double ownSeconds, double machineSeconds) {}

  /**
   * @param server usage of the server's process, or {@link ProcessUsage#UNKNOWN}
   */
  public Meter(Supplier<ProcessUsage> server) {
    this.server = server;
  }

  Sample sample() {
    return new Sample(
        System.nanoTime(),
        server.get(),
        ProcessUsage.of(ProcessHandle.current().pid()).cpuSeconds(),
        MachineUsage.busySeconds());
  }

  /**
   * Puts a measurement together.
   *
   * @param count operations that ended between the two samples
   */
  Cell cell(
      String profile, String load, long count, List<Recorder> recorders, Sample begin, Sample end) {
    double operations = count;
    double seconds = (end.nanos() - begin.nanos()) / 1e9;
    double serverSeconds = end.server().cpuSeconds() - begin.server().cpuSeconds();
    double ownSeconds = end.ownSeconds() - begin.ownSeconds();
    double machineSeconds = end.machineSeconds() - begin.machineSeconds();
    return new Cell(
        profile,
        load,
        operations / seconds,
        Latency.of(Recorder.merged(recorders)),
        Recorder.errors(recorders),
        serverSeconds * BASE / operations,
        end.server().rssBytes(),
        ownSeconds * BASE / operations,
        Math.max(0, (machineSeconds - serverSeconds - ownSeconds) / seconds));
  }
}
