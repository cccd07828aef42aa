package io.troupe.persistence.wal;

/**
 * Sizes of the log.
 *
 * @param segmentBytes a segment is closed before it grows over this; 256 KiB .. 512 MiB
 * @param allocationBytes disk blocks are taken in steps of this many bytes, ahead of the writes; 64
 *     KiB .. segmentBytes. Smaller: less to write at a step. Larger: fewer steps
 */
public record WalSettings(long segmentBytes, int allocationBytes) {
  /** 64 MiB segments, taken 1 MiB at a time. */
  public static final WalSettings DEFAULT = new WalSettings(64L << 20, 1 << 20);

  public WalSettings {
    require(segmentBytes >= 256 << 10 && segmentBytes <= 512L << 20, "segmentBytes", segmentBytes);
    require(
        allocationBytes >= 64 << 10 && allocationBytes <= segmentBytes,
        "allocationBytes",
        allocationBytes);
  }

  /** Largest data of one entry: a quarter of a segment, less the headers. */
  public int maxEntryBytes() {
    return maxRecordBytes() - 256;
  }

  /** Largest record; a longer batch is written as several records. */
  int maxRecordBytes() {
    return (int) (segmentBytes / 4);
  }

  private static void require(boolean fits, String name, long value) {
    if (!fits) {
      throw new IllegalArgumentException(name + " out of range: " + value);
    }
  }
}
