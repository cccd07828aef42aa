package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;

/** Checks of a create request. Pure functions, called in the order in which they are declared. */
public final class WatchRules {
  private static final Bytes FIRST_KEY = Bytes.of(0);

  private WatchRules() {}

  /** W4: refused as compacted, with compact revision 0. Checked before the permission (W18). */
  public static boolean isStartRefused(long startRevision) {
    return startRevision < 0;
  }

  /** W5: an empty key means the first possible key. */
  public static KeyRange range(Bytes key, Bytes rangeEnd) {
    return new KeyRange(key.isEmpty() ? FIRST_KEY : key, rangeEnd);
  }

  /** W9: refused as empty. Checked after the permission. */
  public static boolean isRangeRefused(KeyRange range) {
    return range.isEmpty();
  }

  /**
   * First revision whose events the watcher gets (W3).
   *
   * @param startRevision as requested, 0 or more
   * @param currentRevision revision of the hub when the watcher joins
   */
  public static long firstRevision(long startRevision, long currentRevision) {
    return startRevision == 0 ? currentRevision + 1 : startRevision;
  }
}
