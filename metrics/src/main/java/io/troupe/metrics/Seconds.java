package io.troupe.metrics;

/** Converts nanoseconds to seconds, the unit of time in Prometheus. */
final class Seconds {
  private Seconds() {}

  static double of(long nanos) {
    return nanos / 1e9;
  }
}
