package io.troupe.mvcc;

import java.util.List;

/**
 * What readers see, at one moment.
 *
 * @param view position of the committed state
 * @param blocks the live keys at its revision
 * @param earlier the live keys at some earlier revisions
 * @param blockBytes memory of the blocks of all revisions
 * @param corrections counts of blocks that were wrong and were replaced, since the start
 */
record Published(
    ReadView view,
    KeyBlocks blocks,
    List<CountHistory.Kept> earlier,
    long blockBytes,
    long corrections) {

  /** Blocks of the revision from which the fewest revisions must be walked to another one. */
  CountHistory.Kept nearest(long revision) {
    CountHistory.Kept nearest = new CountHistory.Kept(view.revision(), 0, blocks, 0);
    if (revision == view.revision()) {
      return nearest;
    }
    for (CountHistory.Kept each : earlier) {
      // Changes after a compacted revision may be incomplete.
      boolean usable = each.revision() >= view.compactedRevision() || each.revision() >= revision;
      if (usable && distance(each, revision) < distance(nearest, revision)) {
        nearest = each;
      }
    }
    return nearest;
  }

  private static long distance(CountHistory.Kept from, long revision) {
    return Math.abs(from.revision() - revision);
  }
}
