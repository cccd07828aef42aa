package io.troupe.node.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigParseOptions;
import io.troupe.node.process.ExitCode;
import io.troupe.node.process.StartException;
import java.io.File;
import java.util.Map;
import java.util.function.Supplier;

/** Loads the complete configuration of a member. */
public final class ConfigLoader {
  private ConfigLoader() {}

  /**
   * Returns the configuration of a member that runs in the process of another program: the given
   * settings, and the defaults for all others. Ignores system properties and {@code config.file},
   * which belong to that program.
   *
   * @param settings full keys, for example {@code troupe.name}; values as in a configuration file
   * @throws StartException for a malformed key or value
   */
  public static Config embedded(Map<String, ?> settings) {
    return complete(() -> ConfigFactory.parseMap(settings));
  }

  /**
   * Sets {@code -Dkey=value} arguments as system properties.
   *
   * @throws StartException for any other argument, and for a setting whose name is misspelt
   */
  public static void properties(String[] args) {
    for (String arg : args) {
      int equals = arg.indexOf('=');
      if (!arg.startsWith("-D") || equals < 3) {
        throw new StartException(
            ExitCode.CONFIGURATION,
            "argument "
                + arg
                + " is not understood: expected -Dkey=value, for example"
                + " -Dconfig.file=conf/node.conf or -Dtroupe.name=node1");
      }
      KeyNames.checkArgument(arg.substring(2, equals));
      System.setProperty(arg.substring(2, equals), arg.substring(equals + 1));
    }
  }

  /**
   * Reads the file that {@code config.file} names. System properties override it, and the defaults
   * fill in what it does not set.
   *
   * @throws StartException for a missing or a malformed file, one without the section troupe, and
   *     for a setting whose name is misspelt
   */
  public static Config configuration() {
    // Those before -jar too.
    System.getProperties().stringPropertyNames().forEach(KeyNames::checkProperty);
    return complete(
        () -> {
          ConfigFactory.invalidateCaches();
          return ConfigFactory.systemProperties().withFallback(file());
        });
  }

  private static Config complete(Supplier<Config> settings) {
    try {
      return settings
          .get()
          .withFallback(ConfigFactory.parseResources("troupe-defaults.conf"))
          .withFallback(ConfigFactory.defaultReferenceUnresolved())
          .resolve();
    } catch (ConfigException broken) {
      throw new StartException(
          ExitCode.CONFIGURATION, "configuration: " + broken.getMessage(), broken);
    }
  }

  private static Config file() {
    String name = System.getProperty("config.file");
    if (name == null) {
      return ConfigFactory.empty();
    }
    File file = new File(name);
    if (!file.isFile() || !file.canRead()) {
      throw new StartException(
          ExitCode.CONFIGURATION,
          "configuration: config.file = \"" + name + "\" is wrong: expected a readable file");
    }
    Config config =
        ConfigFactory.parseFile(file, ConfigParseOptions.defaults().setAllowMissing(false));
    KeyNames.checkFile(config, name);
    return config;
  }
}
