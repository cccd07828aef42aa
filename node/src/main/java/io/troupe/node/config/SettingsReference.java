package io.troupe.node.config;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigRenderOptions;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * All settings with their defaults and meanings, from conf/node.conf, which the build copies into
 * the jar. A test compares its values with troupe-defaults.conf.
 */
public final class SettingsReference {
  private static final String RESOURCE = "io/troupe/node/config/node.conf";
  private static final String ROOT = "troupe";
  private static final String CLIENT = ".client-transport-security.";
  private static final String PEER = ".peer-transport-security.";

  private SettingsReference() {}

  /**
   * One setting, or a section of settings.
   *
   * @param key full, for example {@code troupe.log.level}
   * @param defaultText as it is written after {@code -Dkey=}; empty for a section
   * @param meaning lines; empty if the meaning of the setting before covers this one too
   */
  public record Entry(String key, String defaultText, List<String> meaning) {
    public Entry {
      meaning = List.copyOf(meaning);
    }

    /** Returns true for the line before the settings of a section. */
    public boolean isSection() {
      return defaultText.isEmpty();
    }
  }

  /** Returns all of them, in the order of the file. */
  public static List<Entry> all() {
    List<Entry> all = new ArrayList<>();
    collect(config().getObject(ROOT), ROOT, all);
    return List.copyOf(all);
  }

  /**
   * Returns the meaning of each setting as one text. Settings that share a comment share the
   * meaning; those for peers that have none have that of the setting for clients.
   */
  public static Map<String, String> meanings() {
    Map<String, String> meanings = new HashMap<>();
    String last = "";
    for (Entry entry : all()) {
      String own = String.join(" ", entry.meaning());
      String client = meanings.get(entry.key().replace(PEER, CLIENT));
      if (own.isEmpty()) {
        own = client == null ? last : client;
      }
      meanings.put(entry.key(), own);
      last = own;
    }
    return meanings;
  }

  /** Returns the values of conf/node.conf. */
  static Config config() {
    return ConfigFactory.parseResources(
        SettingsReference.class.getClassLoader(),
        RESOURCE,
        ConfigParseOptions.defaults().setAllowMissing(false));
  }

  private static void collect(ConfigObject section, String path, List<Entry> all) {
    List<Map.Entry<String, ConfigValue>> inOrder =
        section.entrySet().stream()
            .sorted(Comparator.comparingInt(each -> each.getValue().origin().lineNumber()))
            .toList();
    for (Map.Entry<String, ConfigValue> each : inOrder) {
      String key = path + "." + each.getKey();
      ConfigValue value = each.getValue();
      List<String> meaning = value.origin().comments().stream().map(String::strip).toList();
      if (value instanceof ConfigObject inner) {
        all.add(new Entry(key, "", meaning));
        collect(inner, key, all);
      } else {
        all.add(new Entry(key, text(value), meaning));
      }
    }
  }

  private static String text(ConfigValue value) {
    String text = String.valueOf(value.unwrapped());
    return value.valueType() == ConfigValueType.STRING && !text.isEmpty()
        ? text
        : value.render(ConfigRenderOptions.concise());
  }
}
