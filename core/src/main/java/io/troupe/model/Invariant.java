package io.troupe.model;

/**
 * Conditions that always hold. They are checked in production: a broken one means that the state
 * can no longer be trusted, and the member stops.
 */
public final class Invariant {
  private Invariant() {}

  /**
   * Checks a condition.
   *
   * @param what states what is broken, in a few words
   * @throws Broken if it does not hold
   */
  public static void require(boolean holds, String what) {
    if (!holds) {
      throw new Broken(what);
    }
  }

  /**
   * As {@link #require(boolean, String)}, with the two numbers that were compared in the message.
   *
   * @throws Broken if it does not hold
   */
  public static void require(boolean holds, String what, long left, long right) {
    if (!holds) {
      throw new Broken(what + ": " + left + ", " + right);
    }
  }

  /**
   * An invariant does not hold: a rule is broken on this member, which must stop and answer nobody.
   */
  public static final class Broken extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /** States what is broken. */
    public Broken(String what) {
      super("broken invariant: " + what);
    }
  }
}
