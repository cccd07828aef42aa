package io.troupe.simulation.check;

import org.jspecify.annotations.Nullable;

/** A rule was violated. */
public final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** A violation with the rule and its details. */
  public Violation(String what) {
    super(what);
  }

  /** Throws unless {@code holds}. {@code what} states the rule. */
  public static void require(boolean holds, String what, @Nullable Object... about) {
    if (!holds) {
      StringBuilder text = new StringBuilder(what);
      for (Object each : about) {
        text.append(" | ").append(each);
      }
      throw new Violation(text.toString());
    }
  }
}
