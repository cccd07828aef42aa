package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsReferenceTest {
  private static final String ROTATION = "log.rotation";

  private static Config defaults() {
    return ConfigFactory.parseResources("troupe-defaults.conf").getConfig("troupe");
  }

  @Test
  void exampleFileHasEveryKeyWithItsDefault() {
    Config example = SettingsReference.config().getConfig("troupe");
    assertThat(example.withoutPath(ROTATION).root())
        .isEqualTo(defaults().withoutPath(ROTATION).root());
    // The example spells out the values that an empty object stands for.
    assertThat(example.hasPath(ROTATION)).isTrue();
  }

  @Test
  void everySettingHasMeaning() {
    Map<String, String> meanings = SettingsReference.meanings();
    defaults()
        .entrySet()
        .forEach(each -> assertThat(meanings.get("troupe." + each.getKey())).isNotBlank());
  }

  @Test
  void settingsShareTheMeaningOfTheirGroup() {
    Map<String, String> meanings = SettingsReference.meanings();
    assertThat(meanings.get("troupe.store.write-buffer-bytes")).startsWith("Changes that the log");
    assertThat(meanings.get("troupe.discovery.srv-name"))
        .isEqualTo(meanings.get("troupe.discovery.srv"));
    assertThat(meanings.get("troupe.peer-transport-security.auto-tls"))
        .isEqualTo(meanings.get("troupe.client-transport-security.auto-tls"));
  }

  @Test
  void helpListsEverySettingWithDefault() {
    String help = UsageText.asked(List.of("-Dtroupe.name=x", "--help")).orElseThrow();
    assertThat(help).contains("  troupe.heartbeat-interval = 100 ms\n", "Length of a Raft tick");
    defaults()
        .entrySet()
        .forEach(each -> assertThat(help).contains("\n  troupe." + each.getKey() + " = "));
    assertThat(help.lines()).allMatch(line -> line.length() <= 130);
    assertThat(UsageText.asked(List.of("-Dtroupe.name=--help"))).isEmpty();
  }
}
