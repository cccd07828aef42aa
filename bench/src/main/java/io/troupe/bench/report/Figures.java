package io.troupe.bench.report;

import java.util.Locale;

/** Formats figures: few digits, uniformly; "-" if unknown. */
public final class Figures {
  private Figures() {}

  /** A whole number with separated thousands. */
  public static String count(double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%,d", Math.round(value));
  }

  /** Two or three significant digits. */
  public static String number(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    String format = value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f";
    return String.format(Locale.ROOT, format, value);
  }

  /** {@code value / base} with two digits. */
  public static String ratio(double value, double base) {
    double ratio = value / base;
    return Double.isNaN(ratio) || Double.isInfinite(ratio)
        ? "-"
        : String.format(Locale.ROOT, "%.2f", ratio);
  }

  /** Whole MiB. */
  public static String mebibytes(long bytes) {
    return bytes < 0 ? "-" : count(bytes / (double) (1 << 20));
  }
}
