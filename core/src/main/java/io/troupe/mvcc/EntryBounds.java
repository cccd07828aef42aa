package io.troupe.mvcc;

/**
 * How much of one log entry's work is in memory at a time. The results of an entry do not depend on
 * these numbers; tests use small ones.
 *
 * @param batchBytes changes gathered before they are written, 1 or more; one change may be larger
 * @param batchRecords records that a deletion reads at a time, 1 or more
 * @param eventBytes weight of the events that are kept for watchers of one revision; the events of
 *     a heavier one are read from history
 */
public record EntryBounds(long batchBytes, int batchRecords, long eventBytes) {
  /** For members: fits into the smallest supported heap several times. */
  public static final EntryBounds DEFAULT = new EntryBounds(4 << 20, 4096, 4 << 20);
}
