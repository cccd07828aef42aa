package io.troupe.raft.quorum;

/** What the votes seen so far decide. */
public enum VoteResult {
  /** Not decided yet: the voters that are still silent can turn it either way. */
  PENDING,
  /** A quorum said no, or so many did that a quorum of yes is out of reach. */
  LOST,
  /** A quorum said yes. */
  WON
}
