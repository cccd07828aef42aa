package io.troupe.node;

import io.troupe.actors.snapshot.DiskRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether the file systems of the data directory and of the log have room left. Writes are refused
 * before the log itself runs out of space: reads, deletes and compaction go on, and nothing has to
 * stop. Thread-safe; asks the file system at most once in a second.
 */
final class DiskSpace implements DiskRoom {
  private static final Logger LOG = LoggerFactory.getLogger(DiskSpace.class);
  private static final long ASK_EVERY_NANOS = 500_000_000L;

  private final List<Path> directories;
  private final long minFreeBytes;
  private volatile long askedNanos;
  private volatile long free = Long.MAX_VALUE;
  private volatile boolean low;

  DiskSpace(List<Path> directories, long minFreeBytes) {
    this.directories = List.copyOf(directories);
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
      Path fullest = directories.get(0);
      long usable = Long.MAX_VALUE;
      for (Path directory : directories) {
        long here = Files.getFileStore(directory).getUsableSpace();
        if (here < usable) {
          usable = here;
          fullest = directory;
        }
      }
      boolean tooLittle = usable < minFreeBytes;
      boolean changed = tooLittle != low;
      free = usable;
      low = tooLittle;
      if (changed && tooLittle) {
        LOG.error(
            "disk is nearly full, writes are refused free-bytes={} min-free-disk-bytes={}"
                + " directory={}",
            usable,
            minFreeBytes,
            fullest);
      } else if (changed) {
        LOG.info("disk has room again, writes are accepted free-bytes={}", usable);
      }
    } catch (IOException e) {
      LOG.warn("free space cannot be read directories={}: {}", directories, e.toString());
    }
  }
}
