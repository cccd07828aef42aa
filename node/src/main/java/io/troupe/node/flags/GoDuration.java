package io.troupe.node.flags;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Durations as etcd's flags have them: a sign, then numbers with units, as in {@code 1h30m} or
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
   * Parses.
   *
   * @throws IllegalArgumentException if it is no duration, or longer than 64 bits of nanoseconds
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
}
