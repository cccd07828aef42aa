package io.troupe.raft.quorum;

/** Result of the votes received so far. */
public enum VoteResult {
  /** Not decided yet: the missing votes can still decide either way. */
  PENDING,
  /** A quorum is out of reach because too many voters refused. */
  LOST,
  /** A quorum granted its votes. */
  WON
}
