package io.troupe.ctl.text;

import java.util.Locale;

/** Sizes in powers of 1000, as tables show them: {@code 12 kB}, {@code 2.1 GB}. */
public final class Sizes {
  private static final String[] UNITS = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

  private Sizes() {}

  /**
   * @param bytes unsigned
   */
  public static String format(long bytes) {
    double value = bytes >= 0 ? bytes : bytes + 0x1p64;
    if (value < 10) {
      return bytes + " B";
    }
    int unit = (int) Math.floor(Math.log(value) / Math.log(1000));
    // Rounded to one digit after the point; the logarithm may be off by one near a power of 1000.
    double scaled = Math.floor(value / Math.pow(1000, unit) * 10 + 0.5) / 10;
    return String.format(Locale.ROOT, scaled < 10 ? "%.1f %s" : "%.0f %s", scaled, UNITS[unit]);
  }
}
