package io.troupe.actors.snapshot;

/**
 * Limits the bytes per second, with a burst of a tenth of a second. The caller supplies the time, a
 * monotonic reading in nanoseconds.
 */
final class RateLimit {
  private static final long NANOS = 1_000_000_000L;

  private final long bytesPerSecond;
  private final long burst;
  private long credit;
  private long last;

  RateLimit(long bytesPerSecond, long nanos) {
    this.bytesPerSecond = bytesPerSecond;
    this.burst = bytesPerSecond / 10;
    this.credit = burst;
    this.last = nanos;
  }

  /**
   * Returns true if {@code bytes} may be sent now. A piece larger than the credit makes the credit
   * negative.
   */
  boolean take(int bytes, long nanos) {
    // Beyond a second the credit is full anyway, and the product must not overflow.
    long elapsed = Math.min(NANOS, Math.max(0, nanos - last));
    long earned = (long) (bytesPerSecond * ((double) elapsed / NANOS));
    if (earned > 0) {
      credit = Math.min(burst, credit + earned);
      last = nanos;
    }
    if (credit <= 0) {
      return false;
    }
    credit -= bytes;
    return true;
  }
}
