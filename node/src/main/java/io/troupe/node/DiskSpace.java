package io.troupe.node;

import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the data directory's file system has room left. Writes are refused before the log itself
 * runs out of space: reads, deletes and compaction go on, and nothing has to stop. Thread-safe;
 * asks the file system at most once in a second.
 */
final class DiskSpace {
  private static final Logger LOG = LoggerFactory.getLogger(DiskSpace.class);
  private static final long ASK_EVERY_NANOS = 500_000_000L;

  private final Path directory;
  private final long minFreeBytes;
  private volatile long askedNanos;
  private volatile boolean room = true;

  DiskSpace(Path directory, long minFreeBytes) {
    this.directory = directory;
    this.minFreeBytes = minFreeBytes;
    this.askedNanos = System.nanoTime() - ASK_EVERY_NANOS;
  }

  boolean hasRoom() {
    long now = System.nanoTime();
    if (now - askedNanos >= ASK_EVERY_NANOS) {
      askedNanos = now;
      ask();
    }
    return room;
  }

  private void ask() {
    try {
      FileStore disk = Files.getFileStore(directory);
      long free = disk.getUsableSpace();
      boolean enough = free >= minFreeBytes;
      if (enough != room) {
        room = enough;
        if (enough) {
          LOG.info("disk has room again, writes are accepted free-bytes={}", free);
        } else {
          LOG.error(
              "disk is nearly full, writes are refused free-bytes={} min-free-disk-bytes={}",
              free,
              minFreeBytes);
        }
      }
    } catch (IOException e) {
      LOG.warn("free space cannot be read directory={}: {}", directory, e.toString());
    }
  }
}
