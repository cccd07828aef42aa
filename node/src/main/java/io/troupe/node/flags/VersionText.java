package io.troupe.node.flags;

import io.troupe.node.config.SettingsReference;
import io.troupe.node.config.TextWrap;
import io.troupe.node.process.Version;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Texts of --version and --help of bin/etcd. */
final class VersionText {
  /** Four lines (F4). */
  static final String VERSION =
      "etcd Version: "
          + Version.etcd()
          + "\nGit SHA: troupe\nGo Version: none (Troupe runs on Java)\nGo OS/Arch: "
          + System.getProperty("os.name", "").toLowerCase(Locale.ROOT)
          + "/"
          + System.getProperty("os.arch", "")
              .replace("x86_64", "amd64")
              .replace("aarch64", "arm64");

  /** Flags whose effect is on the command line itself. */
  private static final Set<String> SELF = Set.of("config-file", "version");

  private VersionText() {}

  /** Returns all flags with default, unit and meaning. */
  static String usage() {
    Map<String, String> meanings = SettingsReference.meanings();
    StringBuilder out = new StringBuilder("Usage:\n\n  etcd [flags]\n\nFlags:\n");
    for (Flag flag : EtcdFlags.all().values()) {
      if (flag.fate() == Flag.Fate.IGNORED) {
        continue;
      }
      out.append("  --").append(flag.name()).append(" '").append(flag.defaultText()).append("' (");
      out.append(unit(flag)).append(")\n");
      TextWrap.append(text(flag, meanings), "    \t", out);
    }
    return out.toString();
  }

  private static String unit(Flag flag) {
    return switch (flag.type()) {
      case TEXT -> "text";
      case URLS -> "URLs, separated by commas";
      case CLUSTER_STATE -> "new or existing";
      case V2_STAGE -> "name of a stage";
      case BOOL -> "true or false";
      case NUMBER, UNSIGNED -> flag.name().endsWith("-bytes") ? "bytes" : "number";
      case DURATION -> "duration: 100ms, 5s, 1h30m";
      case MILLIS -> "milliseconds";
      case SECONDS -> "seconds";
    };
  }

  private static String text(Flag flag, Map<String, String> meanings) {
    if (SELF.contains(flag.name())) {
      return flag.what() + ".";
    }
    return switch (flag.fate()) {
      case SETTING -> meanings.getOrDefault(flag.what(), "") + " Setting: " + flag.what() + ".";
      case NO_EFFECT -> "No effect: " + flag.what() + ".";
      case REFUSED -> "Only the default: " + flag.what() + ".";
      case IGNORED -> "Ignored.";
    };
  }
}
