package io.troupe.ctl.text;

import java.util.Locale;

/** Integers as Go's strconv reads them, with its error texts. */
public final class Integers {
  private Integers() {}

  /**
   * A signed 64-bit number.
   *
   * @throws IllegalArgumentException with Go's text
   */
  public static long parse(String text, int radix) {
    try {
      return Long.parseLong(checked(text, "ParseInt", true), radix);
    } catch (NumberFormatException e) {
      throw failure("ParseInt", text, radix, e);
    }
  }

  /**
   * An unsigned 64-bit number.
   *
   * @throws IllegalArgumentException with Go's text
   */
  public static long parseUnsigned(String text, int radix) {
    try {
      return Long.parseUnsignedLong(checked(text, "ParseUint", false), radix);
    } catch (NumberFormatException e) {
      throw failure("ParseUint", text, radix, e);
    }
  }

  /** Java accepts a plus sign and digits of other scripts, and Go's unsigned numbers no sign. */
  private static String checked(String text, String function, boolean signed) {
    String digits =
        signed && (text.startsWith("-") || text.startsWith("+")) ? text.substring(1) : text;
    if (!digits.matches("[0-9a-zA-Z]+")) {
      throw new IllegalArgumentException(message(function, text, "invalid syntax"));
    }
    return text;
  }

  private static IllegalArgumentException failure(
      String function, String text, int radix, NumberFormatException cause) {
    boolean digits =
        text.toLowerCase(Locale.ROOT).matches(radix == 16 ? "[-+]?[0-9a-f]+" : "[-+]?[0-9]+");
    return new IllegalArgumentException(
        message(function, text, digits ? "value out of range" : "invalid syntax"), cause);
  }

  private static String message(String function, String text, String reason) {
    return "strconv." + function + ": parsing " + Quoted.quote(text) + ": " + reason;
  }

  /** A member or cluster ID: hexadecimal without leading zeros. */
  public static String hex(long id) {
    return Long.toHexString(id);
  }

  /** A lease ID: 16 hexadecimal digits. */
  public static String lease(long id) {
    return String.format(Locale.ROOT, "%016x", id);
  }
}
