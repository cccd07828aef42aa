package io.troupe.bench.load;

import io.troupe.bench.client.Connections;
import io.troupe.bench.report.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Measures puts at a fixed rate before, during and after a work of the server, and the work itself:
 * its units per second, the time of one run, and the highest resident memory.
 */
final class WorkBesidePuts {
  private WorkBesidePuts() {}

  /** Some work of the server. */
  interface Work {
    /**
     * Runs it once.
     *
     * @return units of work that were done
     * @throws IllegalStateException if it fails
     */
    long run(Connections connection);
  }

  /** The same work again and again for the time of the settings, at least once. */
  static List<Cell> repeatedly(Target target, String profile, String unit, Work work) {
    return measure(target, profile, unit, target.settings().duration(), work);
  }

  /** The work once. */
  static List<Cell> once(Target target, String profile, String unit, Work work) {
    return measure(target, profile, unit, Duration.ZERO, work);
  }

  private static List<Cell> measure(
      Target target, String profile, String unit, Duration least, Work work) {
    target.awaitQuiet();
    try (PacedLoad puts = PacedLoad.puts(target, profile);
        Connections connection = target.connect(1)) {
      pause(target.settings().warmUp());
      puts.begin("before");
      pause(target.settings().duration());
      puts.begin("during");
      Recorder times = new Recorder();
      long units = 0;
      long started = System.nanoTime();
      long peakBytes;
      try (PeakMemory memory = new PeakMemory(target.meter())) {
        do {
          long since = System.nanoTime();
          units += work.run(connection);
          times.latency(System.nanoTime() - since);
        } while (System.nanoTime() - started < least.toNanos());
        peakBytes = memory.peakBytes();
      }
      long nanos = System.nanoTime() - started;
      puts.begin("after");
      pause(target.settings().duration());
      List<Cell> cells = new ArrayList<>(puts.finish());
      cells.add(Meter.work(profile, "the work, " + unit, units, nanos, times, peakBytes));
      return cells;
    }
  }

  private static void pause(Duration time) {
    Window.waitUntil(System.nanoTime() + time.toNanos());
  }
}
