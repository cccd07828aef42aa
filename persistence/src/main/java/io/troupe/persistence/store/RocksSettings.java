package io.troupe.persistence.store;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * Budgets of the store. Native memory stays near {@code blockCacheBytes + writeBufferBytes} however
 * many keys there are: index and filter blocks are in the cache, and write buffers are charged to
 * it.
 *
 * @param blockCacheBytes for blocks read from disk, 8 MiB or more
 * @param writeBufferBytes for changes not yet on disk, over all spaces, 4 MiB or more; larger means
 *     fewer and larger files, and more to replay from the log after a crash
 * @param backgroundThreads for flushes and compactions, 1 .. 64
 * @param maxOpenFiles table files held open, 64 or more, or -1 for all
 * @param compactionBytesPerSecond limit on background writing, or 0 for none
 */
public record RocksSettings(
    long blockCacheBytes,
    long writeBufferBytes,
    int backgroundThreads,
    int maxOpenFiles,
    long compactionBytesPerSecond) {
  /** For a limit of 1024, the usual one of a login. */
  private static final int LEAST_OPEN_FILES = 512;

  /** Enough for some ten terabytes. An open file needs some ten kilobytes. */
  private static final int MOST_OPEN_FILES = 1 << 15;

  /** For a member that may use one or two gigabytes. */
  public static final RocksSettings DEFAULT =
      new RocksSettings(128L << 20, 64L << 20, 2, openFiles(descriptors()), 0);

  public RocksSettings {
    require(blockCacheBytes >= 8L << 20, "blockCacheBytes", blockCacheBytes);
    require(writeBufferBytes >= 4L << 20, "writeBufferBytes", writeBufferBytes);
    require(
        backgroundThreads >= 1 && backgroundThreads <= 64, "backgroundThreads", backgroundThreads);
    require(maxOpenFiles == -1 || maxOpenFiles >= 64, "maxOpenFiles", maxOpenFiles);
    require(compactionBytesPerSecond >= 0, "compactionBytesPerSecond", compactionBytesPerSecond);
  }

  /**
   * Half of the file descriptors that the process may have; connections need the others. If there
   * are more files than may be open, most reads open one again (decision 0262).
   *
   * @param descriptors limit of the process; not positive if it is unknown
   */
  static int openFiles(long descriptors) {
    return (int) Math.max(LEAST_OPEN_FILES, Math.min(MOST_OPEN_FILES, descriptors / 2));
  }

  private static long descriptors() {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? unix.getMaxFileDescriptorCount()
        : 0;
  }

  private static void require(boolean fits, String name, long value) {
    if (!fits) {
      throw new IllegalArgumentException(name + " out of range: " + value);
    }
  }
}
