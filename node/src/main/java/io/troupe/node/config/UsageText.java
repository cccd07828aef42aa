package io.troupe.node.config;

import io.troupe.node.process.Version;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Texts of --help and --version of node.jar and bin/node. */
public final class UsageText {
  private static final Set<String> HELP = Set.of("--help", "-help", "-h");
  private static final Set<String> VERSION = Set.of("--version", "-version");

  private static final String HEAD =
      """
      Usage:

        java -jar node.jar [-Dkey=value]...
        bin/node [-Dkey=value]...    the best JDK, heap and collector
        bin/etcd [flags]             etcd's flags, see bin/etcd --help

      Options:

        -Dconfig.file=FILE           read settings from FILE (HOCON), as in conf/node.conf
        -Dtroupe.KEY=VALUE           one setting, overrides the file
        --help, -h                   print this text
        --version                    print the version

      Settings: the meaning, then key = default. Durations: 100 ms, 10 s, 1 minute.
      Sizes: 1572864, 64 MiB, 2 GiB. A list is ["a", "b"] or a,b.
      """;

  private UsageText() {}

  /** Returns the text that the arguments ask for, without starting a member; else empty. */
  public static Optional<String> asked(List<String> args) {
    if (args.stream().anyMatch(HELP::contains)) {
      return Optional.of(help());
    }
    return args.stream().anyMatch(VERSION::contains)
        ? Optional.of(Version.line())
        : Optional.empty();
  }

  private static String help() {
    StringBuilder out = new StringBuilder();
    out.append(Version.line()).append("\n\n").append(HEAD);
    for (SettingsReference.Entry entry : SettingsReference.all()) {
      // A setting without a meaning of its own belongs to the one before it.
      if (!entry.meaning().isEmpty()) {
        out.append('\n');
        TextWrap.append(String.join(" ", entry.meaning()), "      ", out);
      }
      out.append("  ").append(entry.key());
      out.append(entry.isSection() ? ".*" : " = " + entry.defaultText()).append('\n');
    }
    return out.toString();
  }
}
