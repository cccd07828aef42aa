package io.troupe.packaging;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;

/**
 * A configuration without the lines that are comments. Five sixths of the libraries' defaults are,
 * and a start reads them before anything is compiled.
 */
final class BareConfig {
  private BareConfig() {}

  /**
   * @throws IllegalArgumentException if the text would mean something else without these lines
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
