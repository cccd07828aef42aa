package io.troupe.packaging;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;

/**
 * Removes comment lines from a configuration. They are five sixths of the libraries' defaults, and
 * a start reads the defaults before any code is compiled.
 */
final class BareConfig {
  private BareConfig() {}

  /**
   * Removes the comment lines.
   *
   * @throws IllegalArgumentException if the configuration would differ without these lines
   */
  static String of(String hocon) {
    StringBuilder bare = new StringBuilder(hocon.length() / 4);
    hocon
        .lines()
        .map(String::strip)
        .filter(line -> !line.isEmpty() && !line.startsWith("#") && !line.startsWith("//"))
        .forEach(line -> bare.append(line).append('\n'));
    String text = bare.toString();
    Config before = ConfigFactory.parseString(hocon);
    if (!before.root().equals(ConfigFactory.parseString(text).root())) {
      throw new IllegalArgumentException("differs without its comments");
    }
    return text;
  }
}
