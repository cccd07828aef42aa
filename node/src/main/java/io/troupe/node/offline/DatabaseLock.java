package io.troupe.node.offline;

import com.sun.jna.LastErrorException;
import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Keeps other processes from writing to a database file of etcd while it is read. etcd locks its
 * database with flock, and the files of its log with fcntl; Java's own locks are of the second kind
 * only.
 */
final class DatabaseLock implements AutoCloseable {
  private static final int READ_ONLY = 0;
  private static final int SHARED_AT_ONCE = 1 | 4;

  /** As in bbolt. */
  private static final long RETRY_MS = 50;

  private final C library;
  private final int file;

  /** The C library. */
  interface C extends Library {
    int open(String path, int flags) throws LastErrorException;

    int flock(int file, int operation) throws LastErrorException;

    int close(int file) throws LastErrorException;
  }

  private DatabaseLock(C library, int file) {
    this.library = library;
    this.file = file;
  }

  /**
   * Locks a database.
   *
   * @param wait how long to wait for a process that uses it; 0: without a limit
   * @throws CommandException if a process uses it for longer
   * @throws IOException if it cannot be read
   */
  static DatabaseLock of(Path database, Duration wait) throws IOException {
    if (!Files.exists(database)) {
      throw new NoSuchFileException(database.toString());
    }
    C library = Native.load("c", C.class);
    int file;
    try {
      file = library.open(database.toString(), READ_ONLY);
    } catch (LastErrorException e) {
      throw new IOException("cannot open " + database + ": " + e.getMessage(), e);
    }
    long start = System.nanoTime();
    while (!isLocked(library, file)) {
      if (!wait.isZero() && System.nanoTime() - start >= wait.toNanos()) {
        library.close(file);
        throw inUse(database);
      }
      try {
        TimeUnit.MILLISECONDS.sleep(RETRY_MS);
      } catch (InterruptedException e) {
        library.close(file);
        Thread.currentThread().interrupt();
        throw new IOException("interrupted", e);
      }
    }
    return new DatabaseLock(library, file);
  }

  private static boolean isLocked(C library, int file) {
    try {
      library.flock(file, SHARED_AT_ONCE);
      return true;
    } catch (LastErrorException held) {
      return false;
    }
  }

  /**
   * Checks that no process uses the files of a log.
   *
   * @throws CommandException if one does
   * @throws IOException if they cannot be read
   */
  static void requireUnusedLog(Path wal) throws IOException {
    List<Path> segments;
    try (Stream<Path> files = Files.list(wal)) {
      segments = files.filter(file -> file.toString().endsWith(".wal")).sorted().toList();
    }
    for (Path segment : segments) {
      try (FileChannel channel = FileChannel.open(segment, StandardOpenOption.READ);
          FileLock lock = channel.tryLock(0, Long.MAX_VALUE, true)) {
        if (lock == null) {
          throw inUse(segment);
        }
      }
    }
  }

  private static CommandException inUse(Path file) {
    return new CommandException(file + " is locked by another process: stop etcd first");
  }

  @Override
  public void close() {
    library.close(file);
  }
}
