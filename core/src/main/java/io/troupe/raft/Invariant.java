package io.troupe.raft;

/** Checks that stay on in production: a member that broke a rule stops before it harms the data. */
final class Invariant {
  private Invariant() {}

  /**
   * Does nothing if {@code holds}.
   *
   * @throws InvariantViolation otherwise
   */
  static void require(boolean holds, String rule) {
    if (!holds) {
      throw new InvariantViolation(rule);
    }
  }

  /**
   * As {@link #require(boolean, String)}, with the two numbers that were compared in the message.
   */
  static void require(boolean holds, String rule, long left, long right) {
    if (!holds) {
      throw new InvariantViolation(rule + ": " + left + ", " + right);
    }
  }
}
