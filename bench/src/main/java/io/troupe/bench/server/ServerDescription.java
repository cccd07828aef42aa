package io.troupe.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Describes the program of a server process for the results. */
public final class ServerDescription {
  private ServerDescription() {}

  /**
   * Version of the program, or of the JVM and its flags.
   *
   * @throws UncheckedIOException if there is no such process
   */
  public static String of(long pid) {
    try {
      Path proc = Path.of("/proc", Long.toString(pid));
      Path program = Files.readSymbolicLink(proc.resolve("exe"));
      if (!program.endsWith("java")) {
        return firstLineOf(program.toString(), "--version");
      }
      Path home = program.getParent() == null ? program : program.resolveSibling("..").normalize();
      return jvm(home)
          + ", flags "
          + String.join(" ", flags(Files.readString(proc.resolve("cmdline"))));
    } catch (IOException e) {
      throw new UncheckedIOException("process " + pid, e);
    }
  }

  /** Name and version of the JVM in {@code home}, from its release file. */
  public static String jvm(Path home) throws IOException {
    Map<String, String> release = release(home);
    return "JDK "
        + release.getOrDefault("JAVA_VERSION", "?")
        + " ("
        + release.getOrDefault("IMPLEMENTOR", "unknown maker")
        + ")";
  }

  /** Major version of the JVM in {@code home}; 0 if it has no release file. */
  public static int majorVersion(Path home) throws IOException {
    String version = release(home).getOrDefault("JAVA_VERSION", "0");
    return Integer.parseInt(version.split("[.\\-+]", -1)[0]);
  }

  private static Map<String, String> release(Path home) throws IOException {
    Map<String, String> values = new TreeMap<>();
    Path file = home.resolve("release");
    if (Files.exists(file)) {
      for (String line : Files.readAllLines(file)) {
        int equals = line.indexOf('=');
        if (equals > 0) {
          values.put(line.substring(0, equals), line.substring(equals + 1).replace("\"", ""));
        }
      }
    }
    return values;
  }

  static List<String> flags(String commandLine) {
    List<String> flags = new ArrayList<>();
    String[] words = commandLine.split("\0", -1);
    for (int i = 1; i < words.length && !words[i].equals("-jar"); i++) {
      // Paths differ between machines and do not affect speed.
      flags.add(words[i].replaceAll("=/.*/", "=.../"));
    }
    return flags;
  }

  /** The first line of a program's output; "" if none. */
  public static String firstLineOf(String... command) {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      process.getOutputStream().close();
      String text =
          new String(
              process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
      process.waitFor();
      return text.lines().findFirst().orElse("");
    } catch (IOException e) {
      return "";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
