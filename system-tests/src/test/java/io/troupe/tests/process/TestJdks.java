package io.troupe.tests.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The JDKs of process tests: the running one and those under /usr/lib/jvm, one for each major
 * version from 17 on. With the environment variable {@code TROUPE_REQUIRE_JDKS=17,25} a missing one
 * is a failure.
 */
public final class TestJdks {
  private static final Logger LOG = LoggerFactory.getLogger(TestJdks.class);
  private static final Path INSTALLED = Path.of("/usr/lib/jvm");
  private static final int OLDEST = 17;

  private TestJdks() {}

  /**
   * A JDK.
   *
   * @param major version, 17 or more
   * @param home its directory
   */
  public record Jdk(int major, Path home) {
    /** Its launcher. */
    public Path java() {
      return home.resolve("bin/java");
    }

    @Override
    public String toString() {
      return "jdk-" + major;
    }
  }

  /**
   * All JDKs, oldest first, never empty.
   *
   * @throws IllegalStateException if one that TROUPE_REQUIRE_JDKS names is not installed
   */
  public static List<Jdk> all() {
    TreeMap<Integer, Jdk> found = new TreeMap<>();
    for (Path home : installed()) {
      int major = major(home);
      if (major >= OLDEST) {
        found.putIfAbsent(major, new Jdk(major, home));
      }
    }
    Jdk running = running();
    found.put(running.major(), running);
    for (int required : required()) {
      if (!found.containsKey(required)) {
        throw new IllegalStateException(
            "TROUPE_REQUIRE_JDKS asks for JDK " + required + ", found " + found.values());
      }
    }
    LOG.info("process tests run on {}", found.values());
    return List.copyOf(found.values());
  }

  /** The JDK that runs this test. */
  public static Jdk running() {
    return new Jdk(Runtime.version().feature(), Path.of(System.getProperty("java.home")));
  }

  private static List<Integer> required() {
    String text = System.getenv().getOrDefault("TROUPE_REQUIRE_JDKS", "");
    List<Integer> majors = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      if (!part.isBlank()) {
        majors.add(Integer.valueOf(part.trim()));
      }
    }
    return majors;
  }

  private static List<Path> installed() {
    List<Path> homes = new ArrayList<>();
    if (!Files.isDirectory(INSTALLED)) {
      return homes;
    }
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(INSTALLED)) {
      for (Path entry : entries) {
        if (Files.isExecutable(entry.resolve("bin/java"))) {
          homes.add(entry.toRealPath());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    homes.sort(null);
    return homes;
  }

  /** From the release file; 0 if there is none. */
  private static int major(Path home) {
    Path release = home.resolve("release");
    if (!Files.isReadable(release)) {
      return 0;
    }
    try {
      for (String line : Files.readAllLines(release)) {
        if (line.startsWith("JAVA_VERSION=")) {
          String version = line.substring("JAVA_VERSION=".length()).replace("\"", "");
          return Runtime.Version.parse(version).feature();
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return 0;
  }
}
