package io.troupe.bench.load;

import io.troupe.bench.report.Cell;
import io.troupe.bench.report.Latency;
import io.troupe.bench.server.MachineUsage;
import io.troupe.bench.server.ProcessUsage;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/** Measures what server, generator and machine used between two moments. */
public final class Meter {
  private static final double BASE = 100_000;
  private static final long QUIET_NANOS = 1_000_000_000L;
  private static final double QUIET_CORES = 0.2;

  private final Supplier<ProcessUsage> server;

  /** The usage up to a moment. */
  record Sample(long nanos, ProcessUsage server, double ownSeconds, double machineSeconds) {}

  /**
   * @param server usage of the server's process, or {@link ProcessUsage#UNKNOWN}
   */
  public Meter(Supplier<ProcessUsage> server) {
    this.server = server;
  }

  /**
   * Returns when other programs than the server and the generator used little CPU for a second, or
   * after {@code longest}. This makes the figures of a shared machine usable; on a dedicated
   * machine it returns after a second.
   */
  void awaitQuiet(Duration longest) {
    long deadline = System.nanoTime() + longest.toNanos();
    while (System.nanoTime() < deadline) {
      Sample begin = sample();
      Window.waitUntil(begin.nanos() + QUIET_NANOS);
      if (otherCores(begin, sample()) < QUIET_CORES) {
        return;
      }
    }
  }

  /** Returns when the server used little CPU for a second, or after {@code longest}. */
  void awaitIdleServer(Duration longest) {
    long deadline = System.nanoTime() + longest.toNanos();
    while (System.nanoTime() < deadline) {
      double before = server.get().cpuSeconds();
      long begin = System.nanoTime();
      Window.waitUntil(begin + QUIET_NANOS);
      double seconds = (System.nanoTime() - begin) / 1e9;
      if ((server.get().cpuSeconds() - before) / seconds < QUIET_CORES) {
        return;
      }
    }
  }

  private static double otherCores(Sample begin, Sample end) {
    double server = end.server().cpuSeconds() - begin.server().cpuSeconds();
    double known = (Double.isNaN(server) ? 0 : server) + end.ownSeconds() - begin.ownSeconds();
    double seconds = (end.nanos() - begin.nanos()) / 1e9;
    return Math.max(0, (end.machineSeconds() - begin.machineSeconds() - known) / seconds);
  }

  /** Resident memory of the server in bytes; -1 if its process is not known. */
  long rssBytes() {
    return server.get().rssBytes();
  }

  Sample sample() {
    return new Sample(
        System.nanoTime(),
        server.get(),
        ProcessUsage.of(ProcessHandle.current().pid()).cpuSeconds(),
        MachineUsage.busySeconds());
  }

  /**
   * Computes a measurement.
   *
   * @param count operations that completed between the two samples
   */
  Cell cell(
      String profile, String load, long count, List<Recorder> recorders, Sample begin, Sample end) {
    double operations = count;
    double seconds = (end.nanos() - begin.nanos()) / 1e9;
    double serverSeconds = end.server().cpuSeconds() - begin.server().cpuSeconds();
    double ownSeconds = end.ownSeconds() - begin.ownSeconds();
    return new Cell(
        profile,
        load,
        count,
        operations / seconds,
        Latency.of(Recorder.merged(recorders)),
        Recorder.errors(recorders),
        serverSeconds * BASE / operations,
        end.server().rssBytes(),
        ownSeconds * BASE / operations,
        Double.isNaN(serverSeconds) ? Double.NaN : otherCores(begin, end));
  }

  /**
   * Computes the measurement of some work.
   *
   * @param count units of the work
   * @param times of its runs
   * @param peakBytes highest resident memory of the server during the work
   */
  static Cell work(
      String profile, String load, long count, long nanos, Recorder times, long peakBytes) {
    return new Cell(
        profile,
        load,
        count,
        count / (nanos / 1e9),
        Latency.of(Recorder.merged(List.of(times))),
        times.errors(),
        Double.NaN,
        peakBytes,
        Double.NaN,
        Double.NaN);
  }

  /**
   * Computes the measurement of memory.
   *
   * @param count things that take memory
   * @param each bytes of each; NaN if the server's process is not known
   * @param time until all existed
   * @param bytes resident memory of the server with all of them
   */
  static Cell memory(
      String profile, String load, long count, double each, Recorder time, long bytes) {
    return new Cell(
        profile,
        load,
        count,
        each,
        Latency.of(Recorder.merged(List.of(time))),
        time.errors(),
        Double.NaN,
        bytes,
        Double.NaN,
        Double.NaN);
  }

  /**
   * Computes the measurement of one kind of operations of a mix. The CPU belongs to the whole mix,
   * so its figures are unknown.
   *
   * @param count operations of this kind that completed between the two samples
   */
  Cell part(
      String profile, String load, long count, List<Recorder> recorders, Sample begin, Sample end) {
    return new Cell(
        profile,
        load,
        count,
        count / ((end.nanos() - begin.nanos()) / 1e9),
        Latency.of(Recorder.merged(recorders)),
        Recorder.errors(recorders),
        Double.NaN,
        -1,
        Double.NaN,
        Double.NaN);
  }
}
