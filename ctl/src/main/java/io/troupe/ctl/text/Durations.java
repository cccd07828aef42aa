package io.troupe.ctl.text;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Durations in Go's form: {@code 1h2m3.5s}, {@code 15.9ms}, {@code 350µs}. */
public final class Durations {
  private static final Pattern PART =
      Pattern.compile("(\\d+\\.?\\d*|\\.\\d+)(ns|us|µs|μs|ms|s|m|h)");

  private Durations() {}

  /**
   * @throws IllegalArgumentException with Go's text if {@code text} is no duration
   */
  public static Duration parse(String text) {
    boolean negative = text.startsWith("-");
    String rest = negative || text.startsWith("+") ? text.substring(1) : text;
    if (rest.equals("0")) {
      return Duration.ZERO;
    }
    Matcher part = PART.matcher(rest);
    BigDecimal nanos = BigDecimal.ZERO;
    int at = 0;
    while (part.find() && part.start() == at) {
      nanos = nanos.add(new BigDecimal(part.group(1)).multiply(unit(part.group(2))));
      at = part.end();
    }
    if (at == 0 || at != rest.length()) {
      boolean number = rest.matches("\\d+\\.?\\d*");
      throw new IllegalArgumentException(
          (number ? "time: missing unit in duration " : "time: invalid duration ")
              + Quoted.quote(text));
    }
    if (nanos.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) > 0) {
      throw new IllegalArgumentException("time: invalid duration " + Quoted.quote(text));
    }
    long value = nanos.longValue();
    return Duration.ofNanos(negative ? -value : value);
  }

  private static BigDecimal unit(String name) {
    return BigDecimal.valueOf(
        switch (name) {
          case "ns" -> 1L;
          case "us", "µs", "μs" -> 1_000L;
          case "ms" -> 1_000_000L;
          case "s" -> 1_000_000_000L;
          case "m" -> 60_000_000_000L;
          case "h" -> 3_600_000_000_000L;
          default -> throw new IllegalArgumentException("time: unknown unit " + name);
        });
  }

  /** Formats as Go does: the largest unit below a second, or hours, minutes and seconds. */
  public static String format(long nanos) {
    if (nanos == 0) {
      return "0s";
    }
    if (nanos < 0) {
      return "-" + format(-nanos);
    }
    if (nanos < 1_000) {
      return nanos + "ns";
    }
    if (nanos < 1_000_000) {
      return decimal(nanos, 3) + "µs";
    }
    if (nanos < 1_000_000_000) {
      return decimal(nanos, 6) + "ms";
    }
    long minutes = nanos / 60_000_000_000L;
    String seconds = decimal(nanos % 60_000_000_000L, 9) + "s";
    if (minutes == 0) {
      return seconds;
    }
    return minutes < 60
        ? minutes + "m" + seconds
        : minutes / 60 + "h" + minutes % 60 + "m" + seconds;
  }

  private static String decimal(long value, int scale) {
    BigDecimal shifted = BigDecimal.valueOf(value, scale).setScale(scale, RoundingMode.UNNECESSARY);
    return value == 0 ? "0" : shifted.stripTrailingZeros().toPlainString();
  }
}
