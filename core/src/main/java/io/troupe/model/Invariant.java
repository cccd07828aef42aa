package io.troupe.model;

/**
 * Conditions that always hold. They are checked in production. If one does not hold, the state of
 * the member is no longer trustworthy, and the member stops.
 */
public final class Invariant {
  private Invariant() {}

  /**
   * Checks a condition.
   *
   * @param what describes the broken condition in a few words
   * @throws Broken if the condition does not hold
   */
  public static void require(boolean holds, String what) {
    if (!holds) {
      throw new Broken(what);
    }
  }

  /**
   * Like {@link #require(boolean, String)}, with the two compared numbers in the message.
   *
   * @throws Broken if the condition does not hold
   */
  public static void require(boolean holds, String what, long left, long right) {
    if (!holds) {
      throw new Broken(what + ": " + left + ", " + right);
    }
  }

  /** An invariant does not hold. The member must stop and must not send any response. */
  public static final class Broken extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /** Describes the broken condition. */
    public Broken(String what) {
      super("broken invariant: " + what);
    }
  }
}
