package io.troupe.tests.process;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The archive that bin/node creates for a jar and a JDK (docs/decisions/0011), for members that
 * tests start without bin/node: starts took a third of the time of the process tests. The first
 * test that needs it creates it.
 */
public final class TestArchive {
  private static final Logger LOG = LoggerFactory.getLogger(TestArchive.class);
  private static final Map<Path, String> MADE = new ConcurrentHashMap<>();

  private TestArchive() {}

  /** Options for a JVM that runs node.jar. */
  static List<String> options(TestJdks.Jdk jdk) {
    String archive = file(jdk);
    return jdk.major() >= 25
        ? List.of("-XX:AOTCache=" + archive)
        : List.of("-XX:SharedArchiveFile=" + archive, "-Xshare:auto");
  }

  /** The directory with the archive, a {@code TROUPE_CACHE} for scripts that start members. */
  public static String directory(TestJdks.Jdk jdk) {
    return Objects.requireNonNull(Path.of(file(jdk)).getParent()).toString();
  }

  private static String file(TestJdks.Jdk jdk) {
    return MADE.computeIfAbsent(jdk.home(), home -> made(jdk));
  }

  private static String made(TestJdks.Jdk jdk) {
    Path jar = NodeProcess.nodeJar();
    Path folder = jar.resolveSibling("test-archives");
    ProcessBuilder builder = new ProcessBuilder(NodeProcess.script("node").toString());
    builder
        .environment()
        .putAll(
            Map.of(
                "JAVA_HOME", jdk.home().toString(),
                "TROUPE_JAR", jar.toString(),
                "TROUPE_CACHE", folder.toString(),
                "TROUPE_ARCHIVE", "make",
                "TROUPE_ARCHIVE_SECONDS", "300"));
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    // Tests run in two JVMs: the second one waits and reuses it.
    try (FileChannel lock = FileChannel.open(folder.resolve("lock"), CREATE, WRITE)) {
      lock.lock();
      builder.redirectErrorStream(true);
      Process making = builder.start();
      String said = new String(making.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (making.waitFor() != 0) {
        throw new IllegalStateException("no archive: " + said + logs(folder));
      }
      String failed = logs(folder);
      if (!failed.isEmpty()) {
        LOG.warn("a training failed, the next one created the archive {}{}", said.strip(), failed);
      }
      return said.strip();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  /** Returns the logs of trainings that failed; empty if none did. */
  private static String logs(Path folder) throws IOException {
    StringBuilder logs = new StringBuilder();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "node-*.log")) {
      for (Path file : files) {
        logs.append('\n').append(file).append(":\n").append(Files.readString(file));
      }
    }
    return logs.toString();
  }
}
