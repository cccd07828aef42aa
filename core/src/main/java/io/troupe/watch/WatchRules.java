package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;

/** What a create request comes to. Pure functions, to be asked in the order they stand in. */
public final class WatchRules {
  private static final Bytes FIRST_KEY = Bytes.of(0);

  private WatchRules() {}

  /** W4: refused as compacted, with compact revision 0. Asked before the permission (W18). */
  public static boolean isStartRefused(long startRevision) {
    return startRevision < 0;
  }

  /** W5: an empty key stands for the first possible one. */
  public static KeyRange range(Bytes key, Bytes rangeEnd) {
    return new KeyRange(key.isEmpty() ? FIRST_KEY : key, rangeEnd);
  }

  /** W9: refused as empty. Asked after the permission. */
  public static boolean isRangeRefused(KeyRange range) {
    return range.isEmpty();
  }

  /**
   * First revision whose events the watcher gets (W3).
   *
   * @param startRevision as asked, 0 or more
   * @param currentRevision the hub's, when the watcher joins
   */
  public static long firstRevision(long startRevision, long currentRevision) {
    return startRevision == 0 ? currentRevision + 1 : startRevision;
  }

  /** True when a watcher that needs this revision next is in sync with the hub (W3, W8). */
  public static boolean isSynced(long nextRevision, long currentRevision) {
    return nextRevision > currentRevision;
  }

  /** W12: true when compaction went past what the watcher still needs. */
  public static boolean isCancelledByCompaction(long nextRevision, long compactedRevision) {
    return nextRevision < compactedRevision;
  }
}
