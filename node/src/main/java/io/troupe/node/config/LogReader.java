package io.troupe.node.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Reads the settings of the log output. Does not use Logback, which is missing if the member runs
 * in another program.
 */
public final class LogReader {
  public static final String STANDARD_OUTPUT = "stdout";

  /** Under systemd standard error leads to the journal. */
  private static final Set<String> STANDARD_ERROR = Set.of("default", "stderr", "systemd/journal");

  private static final Set<String> LEVELS = Set.of("debug", "info", "warn", "error");

  private final SettingsReader reader;

  LogReader(SettingsReader reader) {
    this.reader = reader;
  }

  /** Returns true if it names a standard stream; any other text is the path of a file. */
  public static boolean isStream(String output) {
    return STANDARD_ERROR.contains(output) || output.equals(STANDARD_OUTPUT);
  }

  NodeSettings.Log read() {
    List<String> outputs = SettingsReader.given(reader.texts("log.outputs", "[\"stderr\"]"));
    if (outputs.isEmpty()) {
      throw SettingsReader.wrong("log.outputs", "", "stderr, stdout or a file");
    }
    boolean rotate = reader.flag("log.rotate");
    boolean file = outputs.size() == 1 && !isStream(outputs.get(0));
    if (rotate && !file) {
      throw SettingsReader.wrong(
          "log.outputs", String.join(",", outputs), "one file, because log.rotate is true");
    }
    return new NodeSettings.Log(
        reader.oneOf("log.level", LEVELS),
        reader.oneOf("log.format", Set.of("text", "json")),
        outputs,
        rotate ? Optional.of(rotation()) : Optional.empty());
  }

  /** Parses the JSON object of etcd's flag: megabytes, days, files. */
  private NodeSettings.LogRotation rotation() {
    String right = "{\"maxsize\": 100, \"maxage\": 0, \"maxbackups\": 0, \"compress\": false}";
    return reader.typed(
        "log.rotation",
        path -> {
          try {
            Config given = ConfigFactory.parseString(reader.text("log.rotation"));
            int size = given.hasPath("maxsize") ? given.getInt("maxsize") : 0;
            return new NodeSettings.LogRotation(
                size == 0 ? 100 : size,
                given.hasPath("maxage") ? given.getInt("maxage") : 0,
                given.hasPath("maxbackups") ? given.getInt("maxbackups") : 0,
                given.hasPath("compress") && given.getBoolean("compress"));
          } catch (ConfigException malformed) {
            throw new IllegalArgumentException(malformed);
          }
        },
        right);
  }
}
