package io.troupe.actors.snapshot;

/**
 * Lets so many bytes through in a second, a tenth of a second's worth at once. Time is handed in, a
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

  /** True if {@code bytes} may go now; a piece larger than the credit makes a debt. */
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
