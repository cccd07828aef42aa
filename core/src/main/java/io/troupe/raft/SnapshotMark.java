package io.troupe.raft;

import io.troupe.model.Invariant;
import io.troupe.raft.membership.Membership;

/**
 * Position of a snapshot in the log.
 *
 * @param index last index it covers, 1 or more
 * @param term term of that index
 * @param membership as of that index
 */
public record SnapshotMark(long index, long term, Membership membership) {
  /** Checks the position. */
  public SnapshotMark {
    Invariant.require(index >= 1 && term >= 1, "snapshot without a position", index, term);
    Invariant.require(
        membership.version() <= index, "membership newer than its snapshot", index, term);
  }
}
