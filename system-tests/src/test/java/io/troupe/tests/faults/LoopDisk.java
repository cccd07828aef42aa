package io.troupe.tests.faults;

import io.troupe.tests.crash.Commands;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A small ext4 in a file that can hang (writes wait until it is thawed) and be full. Needs root. A
 * separate process thaws it in the end, even if this one is killed.
 */
final class LoopDisk implements AutoCloseable {
  private static final long BYTES = 512L << 20;

  private final Path mount;
  private @Nullable Process guard;

  /** Makes and mounts it. */
  LoopDisk(Path directory) {
    Path image = directory.resolve("disk.img");
    this.mount = directory.resolve("disk");
    try {
      Files.createDirectories(mount);
      try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
        file.setLength(BYTES);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    // Without reserved blocks: the member may be root.
    Commands.run("mkfs.ext4", "-q", "-F", "-m", "0", image.toString());
    Commands.run("mount", "-o", "loop", image.toString(), mount.toString());
  }

  /** A directory on it. */
  Path data() {
    return mount.resolve("data");
  }

  /** Hangs from now on, at most for that time. */
  void freeze(int longestSeconds) {
    try {
      guard =
          new ProcessBuilder(
                  "sh", "-c", "sleep " + longestSeconds + "; fsfreeze -u \"$0\"", mount.toString())
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    Commands.run("fsfreeze", "-f", mount.toString());
  }

  /** Completes the pending writes. */
  void thaw() {
    Process waiting = guard;
    if (waiting != null) {
      guard = null;
      waiting.destroy();
      // Status 0: the time limit expired, and the process has thawed the disk.
      if (waiting.onExit().join().exitValue() != 0) {
        Commands.run("fsfreeze", "-u", mount.toString());
      }
    }
  }

  /** A foreign file fills the disk except for the last megabyte. */
  void fill() {
    try {
      long free = Files.getFileStore(mount).getUsableSpace();
      Commands.run("fallocate", "-l", Long.toString(free - (1L << 20)), filler().toString());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The disk has free space again. */
  void empty() {
    try {
      Files.deleteIfExists(filler());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Path filler() {
    return mount.resolve("filler");
  }

  @Override
  public void close() {
    try {
      thaw();
    } finally {
      Commands.run("umount", "-l", mount.toString());
    }
  }
}
