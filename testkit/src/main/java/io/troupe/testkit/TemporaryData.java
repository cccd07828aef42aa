package io.troupe.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/**
 * A directory for the data of one server, deleted by {@link #close}, or at the latest when the JVM
 * shuts down.
 */
final class TemporaryData implements AutoCloseable {
  /** Names the process, so that a directory of a killed JVM is recognized. */
  static final String PREFIX = "troupe-testkit-" + ProcessHandle.current().pid() + "-";

  private final Path root;
  private final Thread atShutdown;

  private TemporaryData(Path root, Runnable stop) {
    this.root = root;
    this.atShutdown =
        new Thread(
            () -> {
              try {
                stop.run();
              } finally {
                delete();
              }
            },
            "troupe-testkit-shutdown");
  }

  /**
   * Creates the directory below {@code java.io.tmpdir}, accessible to this user only.
   *
   * @param stop closes everything that uses the directory, if the JVM shuts down before {@link
   *     #close}
   */
  static TemporaryData create(Runnable stop) throws IOException {
    TemporaryData data = new TemporaryData(Files.createTempDirectory(PREFIX), stop);
    try {
      Runtime.getRuntime().addShutdownHook(data.atShutdown);
    } catch (IllegalStateException shutdown) {
      data.delete();
      throw new TroupeServerException("cannot start while the JVM shuts down", shutdown);
    }
    return data;
  }

  Path root() {
    return root;
  }

  /** Deletes the directory. Nothing may use it any more. */
  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(atShutdown);
    } catch (IllegalStateException shutdown) {
      // The hook runs at the same time as this method and deletes the same files.
    }
    delete();
  }

  private void delete() {
    try {
      Files.walkFileTree(root, new Deletion());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot delete temporary data " + root, e);
    }
  }

  /** Two threads may delete at the same time: a file that is already deleted is no failure. */
  private static final class Deletion extends SimpleFileVisitor<Path> {
    @Override
    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
      Files.deleteIfExists(file);
      return FileVisitResult.CONTINUE;
    }

    @Override
    public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
      if (failure instanceof NoSuchFileException) {
        return FileVisitResult.CONTINUE;
      }
      throw failure;
    }

    @Override
    public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
        throws IOException {
      if (failure != null) {
        throw failure;
      }
      Files.deleteIfExists(directory);
      return FileVisitResult.CONTINUE;
    }
  }
}
