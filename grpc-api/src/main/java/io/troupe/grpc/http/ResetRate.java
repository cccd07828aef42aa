package io.troupe.grpc.http;

/**
 * How often streams of one connection may be reset: as many at once as there may be streams, and a
 * rate after that. So a client may end all its calls together, but cannot continue beginning and
 * resetting them (CVE-2023-44487). A token bucket; one thread.
 */
final class ResetRate {
  private static final double NANOS_PER_SECOND = 1e9;

  private final double most;
  private final double perNano;
  private double left;
  private long lastNanos;
  private boolean begun;

  /**
   * A rate.
   *
   * @param atOnce resets that are allowed at any time if there were none before
   * @param perSecond resets that are allowed in each second after those
   */
  ResetRate(int atOnce, int perSecond) {
    this.most = atOnce;
    this.left = atOnce;
    this.perNano = perSecond / NANOS_PER_SECOND;
  }

  /**
   * Counts a reset.
   *
   * @param nowNanos of a clock that never goes back
   * @return false if it is one too many
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
