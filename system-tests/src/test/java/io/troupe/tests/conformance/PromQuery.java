package io.troupe.tests.conformance;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The metrics and label matchers of a Prometheus expression, as far as rules and dashboard need.
 */
final class PromQuery {
  private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
  private static final Pattern SELECTOR =
      Pattern.compile("(" + NAME + ")\\s*\\{((?:[^}\"]|\"(?:[^\"\\\\]|\\\\.)*\")*)\\}");
  private static final Pattern MATCHER =
      Pattern.compile("(" + NAME + ")\\s*(=~|=)\\s*\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final Pattern LABEL_LIST =
      Pattern.compile("\\b(by|on|ignoring|without)\\s*\\([^)]*\\)");
  private static final Pattern RANGE = Pattern.compile("\\[[^\\]]*\\]");

  /** A name that no parenthesis follows: not a function. */
  private static final Pattern BARE = Pattern.compile("\\b" + NAME + "\\b(?!\\s*\\()");

  private static final Set<String> WORDS = Set.of("and", "or", "unless", "bool", "le", "offset");

  private PromQuery() {}

  /** The names of the metrics of an expression, histogram suffixes included. */
  static Set<String> metrics(String expression) {
    Set<String> names = new LinkedHashSet<>(selectors(expression).keySet());
    String rest = SELECTOR.matcher(expression).replaceAll(" ");
    rest = LABEL_LIST.matcher(rest).replaceAll(" ");
    rest = RANGE.matcher(rest).replaceAll(" ");
    Matcher bare = BARE.matcher(rest);
    while (bare.find()) {
      if (!WORDS.contains(bare.group())) {
        names.add(bare.group());
      }
    }
    return names;
  }

  /**
   * The label matchers of each metric: the label, and a regular expression of its values. Only the
   * last selector of a metric counts.
   */
  static Map<String, Map<String, Pattern>> selectors(String expression) {
    Map<String, Map<String, Pattern>> found = new LinkedHashMap<>();
    Matcher selector = SELECTOR.matcher(expression);
    while (selector.find()) {
      Map<String, Pattern> labels = new LinkedHashMap<>();
      Matcher matcher = MATCHER.matcher(selector.group(2));
      while (matcher.find()) {
        String value = matcher.group(3);
        labels.put(
            matcher.group(1),
            Pattern.compile(matcher.group(2).equals("=") ? Pattern.quote(value) : value));
      }
      found.put(selector.group(1), labels);
    }
    return found;
  }
}
