package io.troupe.grpc.service;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps lines that many calls may cause at once from becoming a load of their own: one is let
 * through in each interval, and says how many were not. Thread-safe.
 */
public final class LineLimit {
  /** What {@link #admit} gives for a line that is not to be written. */
  public static final long SUPPRESSED = -1;

  private static final long NEVER = Long.MIN_VALUE;

  private final long intervalNanos;
  private final AtomicLong last = new AtomicLong(NEVER);
  private final AtomicLong suppressed = new AtomicLong();

  /**
   * A limit.
   *
   * @param intervalNanos least time between two lines
   */
  public LineLimit(long intervalNanos) {
    this.intervalNanos = intervalNanos;
  }

  /**
   * Whether a line may be written now.
   *
   * @param nowNanos as {@link System#nanoTime}
   * @return {@link #SUPPRESSED}, or how many were suppressed since the last one that was not
   */
  public long admit(long nowNanos) {
    long before = last.get();
    if ((before == NEVER || nowNanos - before >= intervalNanos)
        && last.compareAndSet(before, nowNanos)) {
      return suppressed.getAndSet(0);
    }
    suppressed.incrementAndGet();
    return SUPPRESSED;
  }
}
