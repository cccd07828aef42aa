package io.troupe.model;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations in the format of etcd's flags: a sign, then numbers with units, as in {@code 1h30m} or
 * {@code 1.5s}.
 *
 * @source Go's time.ParseDuration
 */
public final class GoDuration {
  private static final Map<String, BigDecimal> NANOS =
      Map.of(
          "ns", BigDecimal.ONE,
          "us", BigDecimal.valueOf(1_000),
          "\u00b5s", BigDecimal.valueOf(1_000),
          "\u03bcs", BigDecimal.valueOf(1_000),
          "ms", BigDecimal.valueOf(1_000_000),
          "s", BigDecimal.valueOf(1_000_000_000),
          "m", BigDecimal.valueOf(60_000_000_000L),
          "h", BigDecimal.valueOf(3_600_000_000_000L));
  private static final Pattern PART =
      Pattern.compile("([0-9]+\\.?[0-9]*|\\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)");

  private GoDuration() {}

  /**
   * Parses a duration.
   *
   * @throws IllegalArgumentException if the text is no duration or exceeds 64 bits of nanoseconds
   */
  public static Duration parse(String text) {
    boolean negative = text.startsWith("-");
    String rest = negative || text.startsWith("+") ? text.substring(1) : text;
    if (rest.equals("0")) {
      return Duration.ZERO;
    }
    BigDecimal sum = BigDecimal.ZERO;
    Matcher part = PART.matcher(rest);
    int at = 0;
    while (at < rest.length() && part.region(at, rest.length()).lookingAt()) {
      BigDecimal number = new BigDecimal(part.group(1));
      sum = sum.add(number.multiply(NANOS.getOrDefault(part.group(2), BigDecimal.ONE)));
      at = part.end();
    }
    if (at == 0 || at < rest.length()) {
      throw new IllegalArgumentException("invalid duration \"" + text + "\"");
    }
    try {
      long nanos = sum.toBigInteger().longValueExact();
      return Duration.ofNanos(negative ? -nanos : nanos);
    } catch (ArithmeticException tooLong) {
      throw new IllegalArgumentException("invalid duration \"" + text + "\"", tooLong);
    }
  }

  /** Formats a duration as Go prints it: {@code 1h2m3.5s}, {@code 1.5ms}, {@code 0s}. */
  public static String text(Duration duration) {
    long nanos = duration.toNanos();
    if (nanos == 0) {
      return "0s";
    }
    String sign = nanos < 0 ? "-" : "";
    BigDecimal left = BigDecimal.valueOf(nanos).abs();
    if (left.compareTo(BigDecimal.valueOf(1_000_000_000)) < 0) {
      String unit = below(left, 1_000) ? "ns" : below(left, 1_000_000) ? "\u00b5s" : "ms";
      return sign + in(left, unit) + unit;
    }
    BigDecimal[] minutes = left.divideAndRemainder(BigDecimal.valueOf(60_000_000_000L));
    long hours = minutes[0].longValue() / 60;
    String seconds = in(minutes[1], "s") + "s";
    if (minutes[0].signum() == 0) {
      return sign + seconds;
    }
    return sign + (hours == 0 ? "" : hours + "h") + minutes[0].longValue() % 60 + "m" + seconds;
  }

  private static boolean below(BigDecimal left, long limit) {
    return left.compareTo(BigDecimal.valueOf(limit)) < 0;
  }

  private static String in(BigDecimal nanos, String unit) {
    BigDecimal number = nanos.divide(NANOS.getOrDefault(unit, BigDecimal.ONE)).stripTrailingZeros();
    return number.toPlainString();
  }
}
