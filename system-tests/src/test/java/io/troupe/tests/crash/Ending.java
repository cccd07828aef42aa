package io.troupe.tests.crash;

/** The way in which a round of the campaign stops the member. */
enum Ending {
  KILL,
  /** SIGTERM: an orderly shutdown. */
  TERMINATE,
  /** kill -9, and again during recovery. */
  KILL_TWICE,
  /** kill -9, then the state directory is emptied: the newest snapshot and the log must suffice. */
  KILL_AND_LOSE_STATE;

  /** A fixed order, so that short campaigns use all of them. */
  static Ending of(int round) {
    return switch (round % 5) {
      case 1 -> KILL_AND_LOSE_STATE;
      case 2 -> TERMINATE;
      case 3 -> KILL_TWICE;
      default -> KILL;
    };
  }
}
