package io.troupe.node;

import com.typesafe.config.Config;
import io.troupe.node.config.ConfigLoader;
import io.troupe.testing.FreePort;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Configurations of members that run in the JVM of the test. */
public final class TestConfig {
  private TestConfig() {}

  /**
   * A complete configuration, as read from a file.
   *
   * @param settings keys with {@code troupe.}; the defaults for all others
   */
  public static Config of(Map<String, ?> settings) {
    return ConfigLoader.embedded(settings);
  }

  /**
   * The settings of a single-member cluster: its data directory and free ports.
   *
   * @return may be changed; keys with {@code troupe.}
   */
  public static Map<String, Object> alone(Path data) {
    List<String> peer = List.of("http://127.0.0.1:" + FreePort.next());
    Map<String, Object> settings = new HashMap<>();
    settings.put("troupe.data-dir", data.toAbsolutePath().toString());
    settings.put("troupe.listen-client-urls", List.of("http://127.0.0.1:0"));
    settings.put("troupe.listen-peer-urls", peer);
    settings.put("troupe.initial-advertise-peer-urls", peer);
    return settings;
  }
}
