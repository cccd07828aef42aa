package io.troupe.bench.report;

import org.HdrHistogram.Histogram;

/**
 * Latencies of one measurement in milliseconds; all NaN if nothing was recorded.
 *
 * @param p50 half of the requests took at most this
 * @param p99 99 of 100
 * @param p999 999 of 1000
 * @param max the slowest
 */
public record Latency(double p50, double p99, double p999, double max) {
  private static final double NANOS_PER_MS = 1e6;

  /** Reads the latencies from a histogram of nanoseconds. */
  public static Latency of(Histogram nanos) {
    if (nanos.getTotalCount() == 0) {
      return new Latency(Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }
    return new Latency(
        nanos.getValueAtPercentile(50) / NANOS_PER_MS,
        nanos.getValueAtPercentile(99) / NANOS_PER_MS,
        nanos.getValueAtPercentile(99.9) / NANOS_PER_MS,
        nanos.getMaxValue() / NANOS_PER_MS);
  }
}
