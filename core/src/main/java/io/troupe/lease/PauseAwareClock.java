package io.troupe.lease;

/**
 * Converts readings of a monotonic clock into time in which the process surely ran. A gap between
 * two readings that is longer than allowed is a pause (a stopped process, a frozen disk, a moved
 * virtual machine) and counts as 0: renewals that arrived in the pause are still unread, so no
 * lease may expire because of it. One thread.
 *
 * <p>The consequence is that a lease outlives its time by the length of the pause, which is allowed
 * (L4).
 */
public final class PauseAwareClock {
  private final long maxGapMs;
  private long lastMs;
  private boolean started;

  /**
   * Starts with the first reading.
   *
   * @param maxGapMs longest plausible time between two readings, 1 or more; several times the
   *     interval at which they are taken
   */
  public PauseAwareClock(long maxGapMs) {
    if (maxGapMs < 1) {
      throw new IllegalArgumentException("maxGapMs " + maxGapMs + " is below 1");
    }
    this.maxGapMs = maxGapMs;
  }

  /** Milliseconds since the last reading, or 0 after a pause and at the first reading. */
  public long elapsedMs(long monotonicMs) {
    long gap = started ? monotonicMs - lastMs : 0;
    started = true;
    lastMs = monotonicMs;
    return gap < 0 || gap > maxGapMs ? 0 : gap;
  }
}
