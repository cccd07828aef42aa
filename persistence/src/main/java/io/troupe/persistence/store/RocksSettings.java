package io.troupe.persistence.store;

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
  /** For a member that may use one or two gigabytes. */
  public static final RocksSettings DEFAULT = new RocksSettings(128L << 20, 64L << 20, 2, 512, 0);

  public RocksSettings {
    require(blockCacheBytes >= 8L << 20, "blockCacheBytes", blockCacheBytes);
    require(writeBufferBytes >= 4L << 20, "writeBufferBytes", writeBufferBytes);
    require(
        backgroundThreads >= 1 && backgroundThreads <= 64, "backgroundThreads", backgroundThreads);
    require(maxOpenFiles == -1 || maxOpenFiles >= 64, "maxOpenFiles", maxOpenFiles);
    require(compactionBytesPerSecond >= 0, "compactionBytesPerSecond", compactionBytesPerSecond);
  }

  private static void require(boolean fits, String name, long value) {
    if (!fits) {
      throw new IllegalArgumentException(name + " out of range: " + value);
    }
  }
}
