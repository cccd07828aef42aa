package io.troupe.bench.report;

/**
 * What one request costs, or what a server needs, at one size.
 *
 * @param measurement its name
 * @param unit {@link #MS}, {@link #MIB} or {@link #PER_SECOND}
 * @param size keys
 * @param value the median, or the only value
 * @param p99 99th percentile; NaN if there is only one value
 */
public record ScalePoint(String measurement, String unit, int size, double value, double p99) {
  public static final String MS = "ms";
  public static final String MIB = "MiB";
  public static final String PER_SECOND = "per second";
}
