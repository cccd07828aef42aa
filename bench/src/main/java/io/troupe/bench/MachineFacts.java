package io.troupe.bench;

import io.troupe.bench.server.ServerDescription;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/**
 * Describes the machine and the time of a measurement, without which the figures are meaningless.
 */
final class MachineFacts {
  private MachineFacts() {}

  /** A Markdown list: date, commit, machine, disk, generator's JVM. */
  static String list(Path home, Path dataParent) {
    return "- date: "
        + OffsetDateTime.now(ZoneOffset.UTC).truncatedTo(ChronoUnit.MINUTES)
        + "\n- commit: "
        + commit(home)
        + "\n- machine: "
        + Runtime.getRuntime().availableProcessors()
        + " cores, "
        + field("/proc/cpuinfo", "model name")
        + ", "
        + memory()
        + ", Linux "
        + System.getProperty("os.version")
        + "\n- disk of the data: "
        + disk(dataParent)
        + "\n- generator: JVM "
        + System.getProperty("java.runtime.version")
        + ", on the same machine as the server\n";
  }

  /** The short hash, with a mark if files have uncommitted changes. */
  static String commit(Path home) {
    String hash =
        ServerDescription.firstLineOf("git", "-C", home.toString(), "rev-parse", "--short", "HEAD");
    String changed =
        ServerDescription.firstLineOf(
            "git", "-C", home.toString(), "status", "--porcelain", "--untracked-files=no");
    return hash.isEmpty() || hash.contains(" ")
        ? "unknown"
        : hash + (changed.isEmpty() ? "" : " with changes");
  }

  /** Load averages of the last 1, 5 and 15 minutes. */
  static String loadAverage() {
    String[] words = read("/proc/loadavg").split(" ", -1);
    return words.length < 3 ? "?" : words[0] + " " + words[1] + " " + words[2];
  }

  private static String disk(Path dataParent) {
    try {
      Files.createDirectories(dataParent);
      return Files.getFileStore(dataParent).type();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String memory() {
    String kilobytes = field("/proc/meminfo", "MemTotal").replace("kB", "").trim();
    return kilobytes.isEmpty()
        ? "memory unknown"
        : String.format(Locale.ROOT, "%.0f GiB", Long.parseLong(kilobytes) / (1024.0 * 1024.0));
  }

  private static String field(String file, String name) {
    return read(file)
        .lines()
        .filter(line -> line.startsWith(name))
        .map(line -> line.substring(line.indexOf(':') + 1).trim())
        .findFirst()
        .orElse("");
  }

  private static String read(String file) {
    try {
      return Files.readString(Path.of(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
