package io.troupe.mvcc;

/**
 * Limits for the memory that the application of one log entry takes at a time. The results of an
 * entry do not depend on these numbers; tests use small ones.
 *
 * @param batchBytes changes gathered before they are written, 1 or more; a single change may be
 *     larger
 * @param batchRecords records that a deletion reads at a time, 1 or more
 * @param eventBytes size of the events that are kept for watchers of one revision; the events of a
 *     larger revision are read from history
 */
public record EntryBounds(long batchBytes, int batchRecords, long eventBytes) {
  /** For members: fits several times into the smallest supported heap. */
  public static final EntryBounds DEFAULT = new EntryBounds(4 << 20, 4096, 4 << 20);
}
