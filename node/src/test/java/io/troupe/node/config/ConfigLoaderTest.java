package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.typesafe.config.Config;
import io.troupe.node.process.StartException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

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
}
