package io.troupe.node;

import io.troupe.actors.snapshot.DiskRoom;
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
final class DiskSpace implements DiskRoom {
  private static final Logger LOG = LoggerFactory.getLogger(DiskSpace.class);
  private static final long ASK_EVERY_NANOS = 500_000_000L;

  private final Path directory;
  private final long minFreeBytes;
  private volatile long askedNanos;
  private volatile long free = Long.MAX_VALUE;
  private volatile boolean low;

  DiskSpace(Path directory, long minFreeBytes) {
    this.directory = directory;
    this.minFreeBytes = minFreeBytes;
    this.askedNanos = System.nanoTime() - ASK_EVERY_NANOS;
  }

  @Override
  public boolean isLow() {
    ask();
    return low;
  }

  @Override
  public long freeBytes() {
    ask();
    return free;
  }

  private void ask() {
    long now = System.nanoTime();
    if (now - askedNanos < ASK_EVERY_NANOS) {
      return;
    }
    askedNanos = now;
    try {
      FileStore disk = Files.getFileStore(directory);
      long usable = disk.getUsableSpace();
      boolean tooLittle = usable < minFreeBytes;
      boolean changed = tooLittle != low;
      free = usable;
      low = tooLittle;
      if (changed && tooLittle) {
        LOG.error(
            "disk is nearly full, writes are refused free-bytes={} min-free-disk-bytes={}",
            usable,
            minFreeBytes);
      } else if (changed) {
        LOG.info("disk has room again, writes are accepted free-bytes={}", usable);
      }
    } catch (IOException e) {
      LOG.warn("free space cannot be read directory={}: {}", directory, e.toString());
    }
  }
}
