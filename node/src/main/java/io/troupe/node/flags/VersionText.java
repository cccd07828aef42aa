package io.troupe.node.flags;

import java.util.Locale;

/** Texts of --version and --help. bin/etcd prints the version without a JVM. */
final class VersionText {
  /** Four lines (F4). */
  static final String VERSION =
      "etcd Version: 3.7.1\nGit SHA: troupe\nGo Version: none (Troupe runs on Java)\nGo OS/Arch: "
          + System.getProperty("os.name", "").toLowerCase(Locale.ROOT)
          + "/"
          + System.getProperty("os.arch", "")
              .replace("x86_64", "amd64")
              .replace("aarch64", "arm64");

  private VersionText() {}

  /** Returns all flags with their defaults. */
  static String usage() {
    StringBuilder out = new StringBuilder("Usage:\n\n  etcd [flags]\n\nFlags:\n");
    for (Flag flag : EtcdFlags.all().values()) {
      if (flag.fate() == Flag.Fate.IGNORED) {
        continue;
      }
      out.append("  --").append(flag.name()).append(" '").append(flag.defaultText()).append("'\n");
      out.append("    \t").append(text(flag)).append('\n');
    }
    return out.toString();
  }

  private static String text(Flag flag) {
    return switch (flag.fate()) {
      case SETTING -> "Setting " + flag.what() + " (conf/node.conf).";
      case NO_EFFECT -> "No effect: " + flag.what() + ".";
      case REFUSED -> "Only the default: " + flag.what() + ".";
      case IGNORED -> "Ignored.";
    };
  }
}
