package io.troupe.bench.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory that the generator or a server made. */
public final class DataDirectory {
  private DataDirectory() {}

  /**
   * Bytes of its files on the disk: holes of sparse files do not count.
   *
   * @throws IllegalStateException if {@code du} does not report them
   */
  public static long bytes(Path root) {
    String du = ServerDescription.firstLineOf("du", "-s", "--block-size=1", root.toString());
    try {
      return Long.parseLong(du.split("\\s", 2)[0]);
    } catch (NumberFormatException e) {
      throw new IllegalStateException("du does not report the size of the data: " + du, e);
    }
  }

  /** Deletes it and all that it contains. */
  public static void delete(Path root) {
    try (Stream<Path> paths = Files.walk(root)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
