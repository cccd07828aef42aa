package io.troupe.node.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Refuses names of settings that are misspelt, so that a setting is never silently ignored. */
final class KeyNames {
  private static final String ROOT = "troupe";

  /** Sections that are checked elsewhere or belong to libraries. */
  private static final Set<String> LIBRARIES = Set.of(ROOT, "config", "io", "java", "pekko");

  private static final String DEFAULTS = "troupe-defaults.conf";

  private KeyNames() {}

  /**
   * Returns {@code "; did you mean X?"}, or an empty text if no setting is similar.
   *
   * @param key without {@code troupe.}
   */
  static String suggestion(String key) {
    Set<String> all =
        defaults().entrySet().stream()
            .map(Map.Entry::getKey)
            .collect(Collectors.toCollection(TreeSet::new));
    // The right name in the wrong section, or without one.
    String name = key.substring(key.lastIndexOf('.') + 1);
    Optional<String> meant =
        SimilarNames.closest(key, all)
            .or(() -> all.stream().filter(one -> one.endsWith("." + name)).findFirst());
    return meant.map(one -> "; did you mean " + ROOT + "." + one + "?").orElse("");
  }

  private static Config defaults() {
    return ConfigFactory.parseResources(DEFAULTS).getConfig(ROOT);
  }

  /**
   * Checks an argument {@code -Dname=value} of the member.
   *
   * @throws StartException if it is a misspelt setting, or one without its section
   */
  static void checkArgument(String name) {
    checkProperty(name);
    String first = first(name);
    if (!LIBRARIES.contains(first) && isSetting(first)) {
      throw refused(name, suggestion(name));
    }
  }

  /**
   * Checks a system property. Names that are not similar to a setting belong to libraries or to the
   * JDK.
   *
   * @throws StartException if it is a misspelt setting
   */
  static void checkProperty(String name) {
    String first = first(name);
    if (isMisspelt(first)) {
      String key = name.substring(Math.min(name.length(), first.length() + 1));
      String meant = suggestion(key);
      throw refused(name, meant.isEmpty() ? "; did you mean " + ROOT + "." + key + "?" : meant);
    }
  }

  private static StartException refused(String name, String suggestion) {
    return new StartException(
        ExitCode.CONFIGURATION,
        "argument -D"
            + name
            + " is not understood: settings begin with "
            + ROOT
            + "."
            + suggestion);
  }

  /**
   * Checks the top level of a configuration file.
   *
   * @param file for the error
   * @throws StartException if it has no section for the member, or a setting outside of it
   */
  static void checkFile(Config config, String file) {
    Set<String> sections = config.root().keySet();
    for (String section : new TreeSet<>(sections)) {
      boolean setting = !section.equals(ROOT) && isSetting(section);
      if (setting || isMisspelt(section)) {
        throw new StartException(
            ExitCode.CONFIGURATION,
            "configuration: "
                + section
                + " in "
                + file
                + " is not a section or key: settings are in the section "
                + ROOT
                + " { ... }"
                + (setting ? suggestion(section) : "; did you mean " + ROOT + "?"));
      }
    }
    if (!sections.contains(ROOT)) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: "
              + file
              + " has no section "
              + ROOT
              + ": expected "
              + ROOT
              + " { name = \"node1\" ... }, as in conf/node.conf");
    }
  }

  private static boolean isSetting(String section) {
    return defaults().root().containsKey(section);
  }

  /** True for a name that is nearly the name of the section. */
  private static boolean isMisspelt(String section) {
    return !section.equals(ROOT)
        && (section.equalsIgnoreCase(ROOT) || SimilarNames.distance(section, ROOT) == 1);
  }

  private static String first(String name) {
    int dot = name.indexOf('.');
    return dot < 0 ? name : name.substring(0, dot);
  }
}
