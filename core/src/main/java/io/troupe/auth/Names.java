package io.troupe.auth;

import java.util.Comparator;

/**
 * The order of names (A15): the order of their UTF-8 bytes, which is the order of their code
 * points.
 */
final class Names {
  /** Differs from String's order if one name has a character beyond U+FFFF. */
  static final Comparator<String> ORDER = Names::compare;

  private Names() {}

  private static int compare(String a, String b) {
    int common = Math.min(a.length(), b.length());
    for (int i = 0; i < common; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean beyond = Character.isSurrogate(x);
        if (beyond != Character.isSurrogate(y)) {
          return beyond ? 1 : -1;
        }
        return Character.compare(x, y);
      }
    }
    return Integer.compare(a.length(), b.length());
  }
}
