package io.troupe.node.tracing;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * The two clocks at one moment: steps are measured by the one that never jumps, spans stand on the
 * wall clock.
 *
 * @param epochNanos since 1970
 * @param nanoTime as {@link System#nanoTime}
 */
record Clocks(long epochNanos, long nanoTime) {
  static Clocks now() {
    long nanoTime = System.nanoTime();
    Instant instant = Instant.now();
    return new Clocks(
        TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano(), nanoTime);
  }

  /** The wall clock at a moment of the other. */
  long epochAt(long nanos) {
    return epochNanos + (nanos - nanoTime);
  }
}
