package io.troupe.raft;

/** Current role of a member. */
public enum RaftRole {
  /** Replicates entries from a leader, or waits for one. */
  FOLLOWER,
  /** Checks that it could win an election; has not changed its term. */
  PRE_CANDIDATE,
  /** Runs an election in its own new term. */
  CANDIDATE,
  /** The only member that creates entries in its term. */
  LEADER
}
