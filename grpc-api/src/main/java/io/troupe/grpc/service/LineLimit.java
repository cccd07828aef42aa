package io.troupe.grpc.service;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps lines that many calls may cause at once from becoming a load of their own: some are let
 * through at once, then one in each interval, and says how many were not. Thread-safe.
 */
public final class LineLimit {
  /** What {@link #admit} gives for a line that is not to be written. */
  public static final long SUPPRESSED = -1;

  private static final long NEVER = Long.MIN_VALUE;

  private final long intervalNanos;
  private final long burst;

  /** When all lines that were written would have been, one in each interval. */
  private final AtomicLong used = new AtomicLong(NEVER);

  private final AtomicLong suppressed = new AtomicLong();

  /**
   * A limit of one line at a time.
   *
   * @param intervalNanos least time between two lines
   */
  public LineLimit(long intervalNanos) {
    this(intervalNanos, 1);
  }

  /**
   * A limit.
   *
   * @param intervalNanos least time between two lines in the long run
   * @param burst how many may come at once after silence
   */
  public LineLimit(long intervalNanos, long burst) {
    this.intervalNanos = intervalNanos;
    this.burst = burst;
  }

  /**
   * Whether a line may be written now.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return {@link #SUPPRESSED}, or how many were suppressed since the last one that was not
   */
  public long admit(long nowNanos) {
    while (true) {
      long before = used.get();
      long ahead = before == NEVER ? 0 : Math.max(0, before - nowNanos);
      if (ahead > (burst - 1) * intervalNanos) {
        break;
      }
      // Who comes at the same instant as another one takes the next place, if there is one.
      if (used.compareAndSet(before, nowNanos + ahead + intervalNanos)) {
        return suppressed.getAndSet(0);
      }
    }
    suppressed.incrementAndGet();
    return SUPPRESSED;
  }
}
