package io.troupe.bench.load;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The time of one measurement, in System.nanoTime.
 *
 * @param from operations that complete before this are warm-up
 * @param until operations that complete at or after this are not counted, and no more requests are
 *     sent
 */
record Window(long from, long until) {
  /** Always open: all operations count, and the work itself ends. */
  static final Window ENDLESS = new Window(Long.MIN_VALUE, Long.MAX_VALUE);

  /** A window that starts {@code warmUp} from now. */
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

  /** Returns at {@code nanoTime}. */
  static void waitUntil(long nanoTime) {
    long left;
    while ((left = nanoTime - System.nanoTime()) > 0) {
      LockSupport.parkNanos(left);
    }
  }
}
