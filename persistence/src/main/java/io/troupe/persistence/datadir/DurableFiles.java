package io.troupe.persistence.datadir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * File operations whose effect survives a power cut once they return. A directory entry is durable
 * only after its directory was forced; these methods do that in addition to the JDK's.
 */
public final class DurableFiles {
  private DurableFiles() {}

  /**
   * Creates {@code directory} with permission 0700, including missing parents, and forces each
   * parent. An existing directory is not changed.
   *
   * @throws FileAlreadyExistsException if the path exists and is not a directory
   */
  public static void createDirectory(Path directory) throws IOException {
    Path path = directory.toAbsolutePath().normalize();
    if (Files.isDirectory(path)) {
      return;
    }
    Path parent = path.getParent();
    if (parent != null) {
      createDirectory(parent);
    }
    try {
      Files.createDirectory(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException e) {
      if (!Files.isDirectory(path)) {
        throw e;
      }
    }
    if (parent != null) {
      forceDirectory(parent);
    }
  }

  /** Makes the entries of {@code directory} (creations, renames, removals) durable. */
  public static void forceDirectory(Path directory) throws IOException {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Makes the content and the length of {@code file} durable. */
  public static void forceFile(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  /** Forces every file and directory below {@code root}, and root itself. */
  public static void forceTree(Path root) throws IOException {
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<Path>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            forceFile(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException failure)
              throws IOException {
            if (failure != null) {
              throw failure;
            }
            forceDirectory(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Writes {@code content} to {@code target} so that a crash leaves either the old file or the
   * complete new one. Writes to {@code target + ".new"} first.
   */
  public static void replace(Path target, byte[] content) throws IOException {
    Path fresh = target.resolveSibling(target.getFileName() + ".new");
    try (FileChannel channel =
        FileChannel.open(
            fresh,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      ByteBuffer buffer = ByteBuffer.wrap(content);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
    rename(fresh, target);
  }

  /** Renames within one file system, atomically, and forces the directory of {@code to}. */
  public static void rename(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    Path parent = to.toAbsolutePath().getParent();
    if (parent != null) {
      forceDirectory(parent);
    }
  }

  /**
   * Removes {@code root} and everything below it; does nothing if it does not exist. Symbolic links
   * are removed, not followed. The parent directory of root is not forced: the caller does that
   * once.
   */
  public static void deleteTree(Path root) throws IOException {
    if (!Files.exists(root, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<Path>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException failure)
              throws IOException {
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
            Files.delete(directory);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /** True if {@code failure} or one of its causes reports a full disk or an exceeded quota. */
  public static boolean isDiskFull(Throwable failure) {
    for (Throwable t = failure; t != null; t = t.getCause()) {
      String message = t.getMessage();
      if (message != null) {
        String lower = message.toLowerCase(Locale.ROOT);
        if (lower.contains("no space left on device") || lower.contains("disk quota exceeded")) {
          return true;
        }
      }
    }
    return false;
  }
}
