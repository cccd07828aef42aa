package io.troupe.persistence.wal;

/**
 * Sizes of the log.
 *
 * @param segmentBytes a segment is closed before it exceeds this, except for a single longer
 *     record; 256 KiB .. 512 MiB
 * @param allocationBytes disk blocks are allocated in steps of this many bytes, ahead of the
 *     writes; 64 KiB .. segmentBytes. Smaller: less to write at a step. Larger: fewer steps
 */
public record WalSettings(long segmentBytes, int allocationBytes) {
  /** 64 MiB segments, allocated 1 MiB at a time. */
  public static final WalSettings DEFAULT = new WalSettings(64L << 20, 1 << 20);

  /** Reading a record needs this much memory at a time. */
  private static final int MAX_BATCH_BYTES = 4 << 20;

  public WalSettings {
    require(segmentBytes >= 256 << 10 && segmentBytes <= 512L << 20, "segmentBytes", segmentBytes);
    require(
        allocationBytes >= 64 << 10 && allocationBytes <= segmentBytes,
        "allocationBytes",
        allocationBytes);
  }

  /**
   * Largest data of one entry: it is encoded in one piece, and mapped four times. An entry that
   * does not fit into a segment gets a segment of its own, so that an entry that a member with
   * other settings accepted can be written here too.
   */
  public static final int MAX_ENTRY_BYTES = 256 << 20;

  /** Largest record of several entries; a longer batch is written as several records. */
  int maxRecordBytes() {
    return (int) Math.min(segmentBytes / 4, MAX_BATCH_BYTES);
  }

  /**
   * Size of a segment that starts with a record of that length: Chronicle accepts records up to a
   * quarter of it.
   */
  long segmentBytesFor(int recordBytes) {
    return Math.max(segmentBytes, 4L * recordBytes + (1 << 20));
  }

  private static void require(boolean fits, String name, long value) {
    if (!fits) {
      throw new IllegalArgumentException(name + " out of range: " + value);
    }
  }
}
