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

  /** An invariant does not hold. */
  public static final class Broken extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /** States what is broken. */
    public Broken(String what) {
      super("broken invariant: " + what);
    }
  }
}
