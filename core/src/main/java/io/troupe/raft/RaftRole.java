package io.troupe.raft;

/** What a member is at the moment. */
public enum RaftRole {
  /** Takes entries from a leader, or waits for one. */
  FOLLOWER,
  /** Asks whether it could win an election; has not changed its term. */
  PRE_CANDIDATE,
  /** Stands for election in its own new term. */
  CANDIDATE,
  /** The only member that makes entries in its term. */
  LEADER
}
