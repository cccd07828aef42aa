package io.troupe.metrics;

/** Prometheus counts time in seconds. */
final class Seconds {
  private Seconds() {}

  static double of(long nanos) {
    return nanos / 1e9;
  }
}
