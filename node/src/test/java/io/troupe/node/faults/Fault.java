package io.troupe.node.faults;

/** What a campaign does to a cluster. */
enum Fault {
  /** kill -9 of the leader; it comes back. */
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
  /** SIGSTOP of a majority with the leader in it. */
  PAUSE_MAJORITY,
  /** Nothing passes between the leader and the others. */
  CUT_LEADER,
  /** Nothing passes between a follower and the others. */
  CUT_FOLLOWER,
  /** Two groups, as the seed draws them. */
  SPLIT,
  /** The leader hears nobody, the others hear it. */
  LEADER_DEAF,
  /** Nobody hears the leader, it hears them. */
  LEADER_MUTE,
  /** A follower hears nobody. */
  FOLLOWER_DEAF,
  /** One direction of one pair. */
  ONE_WAY,
  /** Messages take 20 to 150 ms. */
  SLOW,
  /** A part of the messages comes late, connections break. */
  LOSS,
  /** The leader's disk hangs. */
  HANG_LEADER,
  /** A follower's disk hangs. */
  HANG_FOLLOWER,
  /** Any member's disk is full; it may end with the status for that, and is started again later. */
  FULL,
  /** A client asks the leader to pass on. */
  MOVE_LEADER,
}
