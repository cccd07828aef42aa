package io.troupe.node.tracing;

import java.time.Instant;
import java.util.concurrent.TimeUnit;

/**
 * Both clocks at one moment: the monotonic clock measures steps, spans have times of the wall
 * clock.
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

  /** Returns the wall clock time for a time of the monotonic clock. */
  long epochAt(long nanos) {
    return epochNanos + (nanos - nanoTime);
  }
}
