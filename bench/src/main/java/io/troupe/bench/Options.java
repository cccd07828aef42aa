package io.troupe.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A command line: a command, then {@code --name value} or {@code --name=value}. The last value of a
 * repeated option counts.
 */
final class Options {
  private final String command;
  private final Map<String, String> values;

  private Options(String command, Map<String, String> values) {
    this.command = command;
    this.values = values;
  }

  /**
   * Parses the words of a command line.
   *
   * @param known names without the dashes
   * @throws IllegalArgumentException with a line for the user if a word is invalid
   */
  static Options parse(List<String> words, Set<String> known) {
    List<String> rest = new ArrayList<>(words);
    String command = "";
    if (!rest.isEmpty() && !rest.get(0).startsWith("-")) {
      command = rest.remove(0);
    }
    Map<String, String> values = new LinkedHashMap<>();
    for (int i = 0; i < rest.size(); i++) {
      String word = rest.get(i);
      if (!word.startsWith("--")) {
        throw new IllegalArgumentException("not an option: " + word);
      }
      int equals = word.indexOf('=');
      String name = equals < 0 ? word.substring(2) : word.substring(2, equals);
      if (!known.contains(name)) {
        throw new IllegalArgumentException(
            "unknown option --" + name + "; known options: --" + String.join(" --", known));
      }
      if (equals >= 0) {
        values.put(name, word.substring(equals + 1));
      } else if (i + 1 < rest.size()) {
        values.put(name, rest.get(++i));
      } else {
        throw new IllegalArgumentException("--" + name + " needs a value");
      }
    }
    return new Options(command, values);
  }

  /** The first word, or "" if the line starts with an option. */
  String command() {
    return command;
  }

  boolean has(String name) {
    return values.containsKey(name);
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  /** on or off; off if the option is missing. */
  boolean isOn(String name) {
    String value = values.getOrDefault(name, "off");
    if (!value.equals("on") && !value.equals("off")) {
      throw new IllegalArgumentException("--" + name + ": on or off, not " + value);
    }
    return value.equals("on");
  }

  long number(String name, long otherwise) {
    String value = values.get(name);
    try {
      return value == null ? otherwise : Long.parseLong(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--" + name + ": not a number: " + value, e);
    }
  }

  int integer(String name, int otherwise) {
    long value = number(name, otherwise);
    if (value != (int) value) {
      throw new IllegalArgumentException("--" + name + ": too large: " + value);
    }
    return (int) value;
  }

  /** Seconds, or milliseconds with the unit: {@code 5}, {@code 5s}, {@code 500ms}. */
  Duration duration(String name, Duration otherwise) {
    String value = values.get(name);
    if (value == null) {
      return otherwise;
    }
    try {
      if (value.endsWith("ms")) {
        return Duration.ofMillis(Long.parseLong(value.substring(0, value.length() - 2)));
      }
      return Duration.ofSeconds(
          Long.parseLong(value.endsWith("s") ? value.substring(0, value.length() - 1) : value));
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--" + name + ": not a duration: " + value, e);
    }
  }

  /** Words between commas, without empty ones. */
  List<String> list(String name, List<String> otherwise) {
    String value = values.get(name);
    return value == null
        ? otherwise
        : Arrays.stream(value.split(",", -1))
            .map(String::trim)
            .filter(word -> !word.isEmpty())
            .toList();
  }

  /** Numbers of keys between commas: {@code 100000}, {@code 100k}, {@code 10m}. */
  List<Integer> sizes(String name, List<Integer> otherwise) {
    return has(name)
        ? list(name, List.of()).stream().map(word -> size(name, word)).toList()
        : otherwise;
  }

  private static int size(String name, String word) {
    int factor = word.endsWith("k") ? 1000 : word.endsWith("m") ? 1_000_000 : 1;
    try {
      String number = factor == 1 ? word : word.substring(0, word.length() - 1);
      return Math.multiplyExact(Integer.parseInt(number), factor);
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException("--" + name + ": not a number of keys: " + word, e);
    }
  }

  /** Numbers between commas. */
  List<Integer> integers(String name, List<Integer> otherwise) {
    try {
      return has(name) ? list(name, List.of()).stream().map(Integer::valueOf).toList() : otherwise;
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("--" + name + ": not numbers: " + values.get(name), e);
    }
  }
}
