package io.troupe.bench.load;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The time of one measurement, in System.nanoTime.
 *
 * @param from what ends before this is warm-up
 * @param until what ends at or after this is not counted, and nothing more is sent
 */
record Window(long from, long until) {
  /** Open from the first moment to the last: everything counts, the work itself has an end. */
  static final Window ENDLESS = new Window(Long.MIN_VALUE, Long.MAX_VALUE);

  /** A window that begins when {@code warmUp} from now is over. */
  static Window after(Duration warmUp, Duration duration) {
    long from = System.nanoTime() + warmUp.toNanos();
    return new Window(from, from + duration.toNanos());
  }

  boolean open(long now) {
    return now < until;
  }

  boolean contains(long now) {
    return now >= from && now < until;
  }

  double seconds() {
    return (until - from) / 1e9;
  }

  /** Returns when {@code nanoTime} has come. */
  static void waitUntil(long nanoTime) {
    long left;
    while ((left = nanoTime - System.nanoTime()) > 0) {
      LockSupport.parkNanos(left);
    }
  }
}
