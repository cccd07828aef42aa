package io.troupe.tests.faults;

/** A fault that a campaign injects into a cluster. */
enum Fault {
  /** kill -9 of the leader, then a restart. */
  KILL_LEADER,
  /** kill -9 of a follower. */
  KILL_FOLLOWER,
  /** kill -9 of all members at once. */
  KILL_ALL,
  /** SIGTERM of any member. */
  TERMINATE,
  /** SIGSTOP of the leader, SIGCONT later. */
  PAUSE_LEADER,
  /** SIGSTOP of a follower. */
  PAUSE_FOLLOWER,
  /** SIGSTOP of a majority that contains the leader. */
  PAUSE_MAJORITY,
  /** No message passes between the leader and its peers. */
  CUT_LEADER,
  /** No message passes between a follower and its peers. */
  CUT_FOLLOWER,
  /** Two groups, as the seed draws them. */
  SPLIT,
  /** The leader receives nothing, its peers receive its messages. */
  LEADER_DEAF,
  /** Peers receive nothing from the leader, it receives their messages. */
  LEADER_MUTE,
  /** A follower receives nothing. */
  FOLLOWER_DEAF,
  /** One direction of one pair. */
  ONE_WAY,
  /** Messages take 20 to 150 ms. */
  SLOW,
  /** A part of the messages arrives late, connections break. */
  LOSS,
  /** The leader's disk does not complete I/O. */
  HANG_LEADER,
  /** A follower's disk does not complete I/O. */
  HANG_FOLLOWER,
  /**
   * Any member's disk is full; the member may exit with the status for that, and is restarted
   * later.
   */
  FULL,
  /** A client requests a leadership transfer. */
  MOVE_LEADER,
}
