package io.troupe.ctl.text;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Splits a line of a transaction or of an interactive watch into words. */
public final class Words {
  private static final Pattern WORD =
      Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'|[^'\"\\s]\\S*[^'\"\\s]?");

  private Words() {}

  /**
   * Single quotes keep their content, double quotes have Go's escapes. Quoted bytes that are not
   * UTF-8 are kept as {@link RawArguments} keeps them.
   *
   * @throws IllegalArgumentException if an escape is invalid
   */
  public static List<String> split(String line) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORD.matcher(line);
    while (matcher.find()) {
      String word = matcher.group();
      if (word.startsWith("'")) {
        words.add(word.substring(1, word.length() - 1));
      } else if (word.startsWith("\"")) {
        words.add(RawArguments.decode(Quoted.unquote(word)));
      } else {
        words.add(word);
      }
    }
    return words;
  }
}
