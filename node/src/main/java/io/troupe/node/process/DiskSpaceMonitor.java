package io.troupe.node.process;

import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.metrics.LabelledValues;
import io.troupe.metrics.MemberMetrics;
import io.troupe.persistence.datadir.DiskReserve;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Monitors the free space of the file systems of the data directory and of the log. Writes are
 * refused before the log itself runs out of space; reads, deletes and compaction continue.
 * Thread-safe. For writes it reads the free space at most twice per second.
 */
public final class DiskSpaceMonitor implements DiskCapacity {
  private static final Logger LOG = LoggerFactory.getLogger(DiskSpaceMonitor.class);
  private static final long ASK_EVERY_NANOS = 500_000_000L;

  /** Largest reserve for a start on a full disk, on each disk. */
  private static final long MAX_RESERVE_BYTES = 16L << 20;

  /** Labels of the file systems in metrics, in the order of the directories. */
  private static final List<String> DISKS = List.of("data", "wal");

  /** Checks before the reserve is created: a short-lived process creates none. */
  private static final int CHECKS_BEFORE_RESERVE = 10;

  private final List<Path> directories;
  private final long minFreeBytes;
  private final UsableSpace usableSpace;
  private final List<DiskReserve> reserves;
  private int checksUntilReserve = CHECKS_BEFORE_RESERVE;
  private boolean reserveComplained;
  private volatile long askedNanos;
  private volatile long free = Long.MAX_VALUE;
  private volatile boolean low;

  /** Reads the bytes that the process can write to the file system of a directory. */
  interface UsableSpace {
    long of(Path directory) throws IOException;
  }

  public DiskSpaceMonitor(List<Path> directories, long minFreeBytes) {
    this(directories, minFreeBytes, directory -> Files.getFileStore(directory).getUsableSpace());
  }

  DiskSpaceMonitor(List<Path> directories, long minFreeBytes, UsableSpace usableSpace) {
    this.directories = List.copyOf(directories);
    this.minFreeBytes = minFreeBytes;
    this.usableSpace = usableSpace;
    this.reserves =
        directories.stream().map(directory -> reserve(directory, minFreeBytes)).toList();
    this.askedNanos = System.nanoTime() - ASK_EVERY_NANOS;
  }

  private static DiskReserve reserve(Path directory, long minFreeBytes) {
    return new DiskReserve(directory, Math.min(MAX_RESERVE_BYTES, minFreeBytes / 4));
  }

  /**
   * Releases the reserve of the previous run if the disk is full. Called before a start opens any
   * file.
   *
   * @param directories of the data and of the log, as in the constructor; may be missing
   */
  public static void releaseReserves(List<Path> directories, long minFreeBytes) {
    for (Path directory : directories) {
      DiskReserve reserve = reserve(directory, minFreeBytes);
      try {
        if (reserve.releaseIfFull()) {
          LOG.warn(
              "disk is full, released the reserve so that the member can start; free disk space"
                  + " file={}",
              reserve.file());
        }
      } catch (IOException e) {
        LOG.warn("cannot release disk reserve file={} reason={}", reserve.file(), e.toString());
      }
    }
  }

  @Override
  public void keepReserve() {
    if (checksUntilReserve > 0) {
      checksUntilReserve--;
      return;
    }
    for (DiskReserve reserve : reserves) {
      try {
        reserve.keep(minFreeBytes);
      } catch (IOException e) {
        if (!reserveComplained) {
          reserveComplained = true;
          LOG.warn("cannot create disk reserve file={} reason={}", reserve.file(), e.toString());
        }
      }
    }
  }

  /** Registers the metrics of the reserves. Called once for each member. */
  public void register(MemberMetrics metrics) {
    metrics.gauges(
        "troupe_disk_reserve_bytes",
        "Bytes in reserve for a start on a full disk.",
        target -> reportReserves(target, DiskReserve::presentBytes),
        "disk");
    metrics.gauges(
        "troupe_disk_reserve_missing_bytes",
        "Bytes of the reserve that were released or not allocated yet.",
        target ->
            reportReserves(
                target, reserve -> Math.max(0, reserve.wantedBytes() - reserve.presentBytes())),
        "disk");
  }

  private interface ReserveFigure {
    long of(DiskReserve reserve) throws IOException;
  }

  private void reportReserves(LabelledValues.Target target, ReserveFigure figure) {
    for (int i = 0; i < reserves.size(); i++) {
      double value;
      try {
        value = (double) figure.of(reserves.get(i));
      } catch (IOException e) {
        LOG.debug("cannot read disk reserve file={}", reserves.get(i).file(), e);
        value = Double.NaN;
      }
      target.value(value, DISKS.get(i));
    }
  }

  @Override
  public boolean isLow() {
    if (System.nanoTime() - askedNanos >= ASK_EVERY_NANOS) {
      ask();
    }
    return low;
  }

  @Override
  public long freeBytes() {
    ask();
    return free;
  }

  private void ask() {
    askedNanos = System.nanoTime();
    try {
      Path fullest = directories.get(0);
      long usable = Long.MAX_VALUE;
      for (Path directory : directories) {
        long here = usableSpace.of(directory);
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
            "rejecting writes, disk is nearly full; free disk space free-bytes={} min-free-disk-bytes={}"
                + " directory={}",
            usable,
            minFreeBytes,
            fullest);
      } else if (changed) {
        LOG.info("accepting writes again, disk has enough free space free-bytes={}", usable);
      }
    } catch (IOException e) {
      LOG.warn("cannot read free disk space directories={} reason={}", directories, e.toString());
    }
  }
}
