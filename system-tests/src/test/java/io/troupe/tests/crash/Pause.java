package io.troupe.tests.crash;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** An intended pause of a campaign: the load continues, or a process stays stopped. */
final class Pause {
  private Pause() {}

  static void millis(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
