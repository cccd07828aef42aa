package io.troupe.tests.conformance;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A strict parser of text format 0.0.4: HELP and TYPE once for each family and before its samples,
 * samples of a family together, no duplicate sample.
 */
final class MetricsText {
  private static final Pattern META =
      Pattern.compile("# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)");
  private static final Pattern SAMPLE =
      Pattern.compile(
          "([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{((?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\\n]|\\\\.)*\",?)*)\\})?"
              + " (NaN|[+-]Inf|[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)");
  private static final Pattern LABEL =
      Pattern.compile("([a-zA-Z0-9_]+)=\"((?:[^\"\\\\]|\\\\.)*)\"");

  /** A sample. */
  record Sample(String name, Map<String, String> labels) {}

  private final Map<String, String> types = new LinkedHashMap<>();
  private final Map<String, String> helps = new HashMap<>();
  private final Map<Sample, Double> samples = new LinkedHashMap<>();

  static MetricsText of(String text) {
    MetricsText read = new MetricsText();
    String family = "";
    if (!text.endsWith("\n")) {
      throw new AssertionError("the last line has no end");
    }
    for (String line : text.lines().toList()) {
      if (line.startsWith("#")) {
        Matcher meta = META.matcher(line);
        require(meta.matches(), line);
        Map<String, String> into = meta.group(1).equals("HELP") ? read.helps : read.types;
        require(into.put(meta.group(2), meta.group(3)) == null, "twice: " + line);
        family = meta.group(2);
        continue;
      }
      Matcher sample = SAMPLE.matcher(line);
      require(sample.matches(), line);
      String name = sample.group(1);
      String type = read.types.get(family);
      require(type != null, "no type: " + line);
      boolean fits =
          name.equals(family)
              || (("histogram".equals(type) || "summary".equals(type))
                  && name.matches(Pattern.quote(family) + "_(bucket|sum|count)"));
      require(fits, line + " stands among " + family);
      Map<String, String> labels = new TreeMap<>();
      if (sample.group(3) != null) {
        Matcher label = LABEL.matcher(sample.group(3));
        while (label.find()) {
          labels.put(label.group(1), label.group(2));
        }
      }
      Double value = Double.valueOf(sample.group(4).replace("Inf", "Infinity"));
      require(read.samples.put(new Sample(name, labels), value) == null, "twice: " + line);
    }
    require(read.helps.keySet().equals(read.types.keySet()), "HELP or TYPE is missing");
    return read;
  }

  private static void require(boolean condition, String what) {
    if (!condition) {
      throw new AssertionError(what);
    }
  }

  Map<String, String> types() {
    return types;
  }

  /** Samples of that name, by their labels. */
  Map<Map<String, String>, Double> series(String name) {
    Map<Map<String, String>, Double> found = new LinkedHashMap<>();
    samples.forEach(
        (sample, value) -> {
          if (sample.name().equals(name)) {
            found.put(sample.labels(), value);
          }
        });
    return found;
  }

  /** The value of a sample. */
  double value(String name, String... labels) {
    Map<String, String> wanted = new TreeMap<>();
    for (int i = 0; i < labels.length; i += 2) {
      wanted.put(labels[i], labels[i + 1]);
    }
    Double value = samples.get(new Sample(name, wanted));
    if (value == null) {
      throw new AssertionError("no " + name + wanted + " among " + series(name).keySet());
    }
    return value;
  }

  /** The increase of a value between two scrapes. */
  static double moved(MetricsText before, MetricsText after, String name, String... labels) {
    return after.value(name, labels) - before.value(name, labels);
  }
}
