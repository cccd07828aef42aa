package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.troupe.node.process.StartException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfigLoaderTest {
  @AfterEach
  void clearProperties() {
    System.clearProperty("troupe.name");
    System.clearProperty("config.file");
  }

  @Test
  void embeddedConfigurationIgnoresPropertiesOfTheProgram() {
    System.setProperty("troupe.name", "property");
    System.setProperty("config.file", "/nonexistent");
    Config config = ConfigLoader.embedded(Map.of("troupe.max-txn-ops", 7));
    assertThat(config.getString("troupe.name")).isEqualTo("default");
    assertThat(config.getInt("troupe.max-txn-ops")).isEqualTo(7);
  }

  @Test
  void malformedEmbeddedConfigurationIsRefused() {
    assertThatThrownBy(() -> ConfigLoader.embedded(Map.of("a", List.of(), "a.b", 1)))
        .isInstanceOf(StartException.class)
        .hasMessageStartingWith("configuration: ");
  }

  private static void isRefused(ThrowingCallable start, String... parts) {
    assertThatThrownBy(start).isInstanceOf(StartException.class).hasMessageContainingAll(parts);
  }

  @Test
  void misspeltSettingsAreRefusedWithSuggestion() {
    argument("-Dtropue.name=x", "-Dtropue.name", "did you mean troupe.name?");
    argument("-Dtroup.log.levle=x", "did you mean troupe.log.level?");
    argument("-DTroupe.data-dir=x", "did you mean troupe.data-dir?");
    argument("-Ddata-dir=x", "did you mean troupe.data-dir?");
    argument("-Dlog.level=x", "did you mean troupe.log.level?");
  }

  private static void argument(String argument, String... parts) {
    isRefused(() -> ConfigLoader.properties(new String[] {argument}), parts);
  }

  @Test
  void misspeltPropertyBeforeJarIsRefused() {
    System.setProperty("tropue.name", "x");
    try {
      isRefused(ConfigLoader::configuration, "-Dtropue.name", "did you mean troupe.name?");
    } finally {
      System.clearProperty("tropue.name");
    }
  }

  @Test
  void propertiesOfLibrariesAreAccepted() {
    System.setProperty("group.name", "x");
    try {
      ConfigLoader.properties(new String[] {"-Dgroup.other=x", "-Dpekko.loglevel=INFO"});
      assertThat(ConfigLoader.configuration().getString("troupe.name")).isEqualTo("default");
    } finally {
      List.of("group.name", "group.other", "pekko.loglevel").forEach(System::clearProperty);
    }
  }

  @Test
  void fileWithoutSectionIsRefused(@TempDir Path directory) throws IOException {
    file(directory, "", "has no section troupe");
    file(directory, "pekko.loglevel = INFO", "has no section troupe");
    file(directory, "tropue { name = x }", "tropue in ", "did you mean troupe?");
    file(directory, "troupe.name = x, data-dir = y", "data-dir in ", "troupe.data-dir?");
  }

  private static void file(Path directory, String content, String... parts) throws IOException {
    Path file = Files.writeString(directory.resolve("node.conf"), content);
    System.setProperty("config.file", file.toString());
    isRefused(ConfigLoader::configuration, parts);
  }

  @Test
  void fileMayDefineItsOwnVariables(@TempDir Path directory) throws IOException {
    String content = "base = /srv\ntroupe.data-dir = ${base}/data";
    Path file = Files.writeString(directory.resolve("node.conf"), content);
    System.setProperty("config.file", file.toString());
    assertThat(ConfigLoader.configuration().getString("troupe.data-dir")).isEqualTo("/srv/data");
  }

  @Test
  void unknownKeysHaveSuggestions() {
    unknown("snapshot-cuont", "did you mean troupe.snapshot-count?");
    unknown("level", "did you mean troupe.log.level?");
    unknown("store.block-cache", "did you mean troupe.store.block-cache-bytes?");
    assertThatThrownBy(() -> NodeSettings.of(ConfigLoader.embedded(Map.of("troupe.xyzzy", 1))))
        .hasMessageContaining("unknown key troupe.xyzzy")
        .hasMessageNotContaining("did you mean");
  }

  private static void unknown(String key, String suggestion) {
    isRefused(
        () -> NodeSettings.of(ConfigLoader.embedded(Map.of("troupe." + key, "x"))),
        "unknown key troupe." + key,
        suggestion);
  }
}
