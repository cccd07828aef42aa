package io.troupe.metrics;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Limits the rate of log lines that many calls can cause together: a burst of lines passes, then
 * one line in each interval. Each line that passes can report how many lines were suppressed before
 * it. Thread-safe.
 */
public final class LogRateLimit {
  /** The result of {@link #admit} for a line that must not be written. */
  public static final long SUPPRESSED = -1;

  private static final long NEVER = Long.MIN_VALUE;

  private final long intervalNanos;
  private final long burst;

  /**
   * End of the interval of the last admitted line, if lines are counted as one in each interval.
   */
  private final AtomicLong used = new AtomicLong(NEVER);

  private final AtomicLong suppressed = new AtomicLong();

  /**
   * Creates a limit of one line at a time.
   *
   * @param intervalNanos minimum time between two lines
   */
  public LogRateLimit(long intervalNanos) {
    this(intervalNanos, 1);
  }

  /**
   * Creates a limit with a burst.
   *
   * @param intervalNanos minimum time between two lines in the long run
   * @param burst number of lines that may pass together after an idle time
   */
  public LogRateLimit(long intervalNanos, long burst) {
    this.intervalNanos = intervalNanos;
    this.burst = burst;
  }

  /**
   * Decides whether a line may be written now.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return {@link #SUPPRESSED}, or the number of lines suppressed since the last admitted one
   */
  public long admit(long nowNanos) {
    while (true) {
      long before = used.get();
      long ahead = before == NEVER ? 0 : Math.max(0, before - nowNanos);
      if (ahead > (burst - 1) * intervalNanos) {
        break;
      }
      // Of two callers at the same instant, the second one takes the next slot, if one is left.
      if (used.compareAndSet(before, nowNanos + ahead + intervalNanos)) {
        return suppressed.getAndSet(0);
      }
    }
    suppressed.incrementAndGet();
    return SUPPRESSED;
  }
}
