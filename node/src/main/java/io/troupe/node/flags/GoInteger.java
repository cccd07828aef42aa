package io.troupe.node.flags;

import java.math.BigInteger;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses whole numbers in the forms of etcd's flags and files: {@code 16}, {@code 0x10}, {@code
 * 0b1_0000}, {@code 0o20}, {@code 020}.
 *
 * @source Go's strconv.ParseInt with base 0
 */
final class GoInteger {
  private static final Pattern FORM =
      Pattern.compile(
          "([+-]?)(?:0[xX](?<hex>(?:_?[0-9a-fA-F])+)|0[bB](?<bits>(?:_?[01])+)"
              + "|0[oO]?(?<octal>(?:_?[0-7])+)|(?<decimal>0|[1-9](?:_?[0-9])*))");

  private GoInteger() {}

  /** Returns the number, of any size; empty if the text has none of the forms. */
  static Optional<BigInteger> parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      return Optional.empty();
    }
    BigInteger value = digits(form);
    return Optional.of(text.startsWith("-") ? value.negate() : value);
  }

  private static BigInteger digits(Matcher form) {
    if (form.group("hex") != null) {
      return number(form.group("hex"), 16);
    }
    if (form.group("bits") != null) {
      return number(form.group("bits"), 2);
    }
    if (form.group("octal") != null) {
      return number(form.group("octal"), 8);
    }
    return number(form.group("decimal"), 10);
  }

  private static BigInteger number(String digits, int base) {
    return new BigInteger(digits.replace("_", ""), base);
  }
}
