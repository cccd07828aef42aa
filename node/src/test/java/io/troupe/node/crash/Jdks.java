package io.troupe.node.crash;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The JDKs of version 17 or newer on this machine: one of each feature version. */
final class Jdks {
  private Jdks() {}

  /** Homes, oldest version first; at least the one that runs the test. */
  static List<Path> found() throws IOException {
    Map<Integer, Path> byVersion = new TreeMap<>();
    byVersion.put(Runtime.version().feature(), Path.of(System.getProperty("java.home")));
    Path common = Path.of("/usr/lib/jvm");
    if (Files.isDirectory(common)) {
      try (Stream<Path> homes = Files.list(common)) {
        for (Path home : (Iterable<Path>) homes.sorted()::iterator) {
          int version = version(home);
          if (version >= 17 && Files.isExecutable(home.resolve("bin/java"))) {
            byVersion.putIfAbsent(version, home);
          }
        }
      }
    }
    return new ArrayList<>(byVersion.values());
  }

  /** Feature version of a JDK, 0 when it does not say. */
  static int version(Path home) throws IOException {
    Path release = home.resolve("release");
    if (!Files.isRegularFile(release)) {
      return 0;
    }
    for (String line : Files.readAllLines(release)) {
      if (line.startsWith("JAVA_VERSION=\"")) {
        String number = line.substring("JAVA_VERSION=\"".length()).replaceAll("[^0-9].*", "");
        return number.isEmpty() ? 0 : Integer.parseInt(number);
      }
    }
    return 0;
  }
}
