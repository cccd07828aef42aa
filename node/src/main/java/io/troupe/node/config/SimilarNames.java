package io.troupe.node.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/** Finds the name that was meant by a misspelt one. */
final class SimilarNames {
  private SimilarNames() {}

  /**
   * Returns the known name with the fewest differences, if they are few for its length.
   *
   * @param known never empty names; of equally similar ones the first in text order is returned
   */
  static Optional<String> closest(String given, Collection<String> known) {
    return known.stream()
        .filter(name -> distance(given, name) <= Math.max(1, name.length() / 3))
        .min(
            Comparator.<String>comparingInt(name -> distance(given, name))
                .thenComparing(Comparator.naturalOrder()));
  }

  /**
   * Returns the number of inserted, missing, replaced and swapped characters.
   *
   * @source optimal string alignment, a restricted Damerau-Levenshtein distance
   */
  static int distance(String one, String other) {
    int[][] d = new int[one.length() + 1][other.length() + 1];
    for (int i = 0; i <= one.length(); i++) {
      for (int j = 0; j <= other.length(); j++) {
        if (i == 0 || j == 0) {
          d[i][j] = i + j;
          continue;
        }
        int replaced = one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1;
        d[i][j] = Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + replaced);
        if (i > 1
            && j > 1
            && one.charAt(i - 1) == other.charAt(j - 2)
            && one.charAt(i - 2) == other.charAt(j - 1)) {
          d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
        }
      }
    }
    return d[one.length()][other.length()];
  }
}
