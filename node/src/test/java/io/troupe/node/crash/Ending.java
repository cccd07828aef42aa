package io.troupe.node.crash;

/** How a round of the campaign ends the member. */
enum Ending {
  KILL,
  /** SIGTERM: it closes in order. */
  TERMINATE,
  /** kill -9, and again while it recovers. */
  KILL_TWICE,
  /** kill -9, then the state directory is emptied: newest snapshot and log must do. */
  KILL_AND_LOSE_STATE;

  /** A fixed order, so that short campaigns have them all. */
  static Ending of(int round) {
    return switch (round % 5) {
      case 1 -> KILL_AND_LOSE_STATE;
      case 2 -> TERMINATE;
      case 3 -> KILL_TWICE;
      default -> KILL;
    };
  }
}
