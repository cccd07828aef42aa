package io.troupe.edge.frames;

/**
 * Limits the resets of streams of one connection: a burst of as many as there may be streams, then
 * a rate. A client can therefore cancel all its calls together, but cannot keep opening and
 * resetting streams (CVE-2023-44487). A token bucket; used by one thread.
 */
public final class ResetRate {
  private static final double NANOS_PER_SECOND = 1e9;

  private final double most;
  private final double perNano;
  private double left;
  private long lastNanos;
  private boolean begun;

  /**
   * Creates a full bucket.
   *
   * @param atOnce size of the burst
   * @param perSecond rate after the burst
   */
  public ResetRate(int atOnce, int perSecond) {
    this.most = atOnce;
    this.left = atOnce;
    this.perNano = perSecond / NANOS_PER_SECOND;
  }

  /**
   * Counts a reset.
   *
   * @param nowNanos of a monotonic clock
   * @return false if the limit is exceeded
   */
  boolean allows(long nowNanos) {
    if (begun) {
      left = Math.min(most, left + (nowNanos - lastNanos) * perNano);
    }
    begun = true;
    lastNanos = nowNanos;
    if (left < 1) {
      return false;
    }
    left--;
    return true;
  }
}
