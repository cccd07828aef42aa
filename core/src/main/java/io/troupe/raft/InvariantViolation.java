package io.troupe.raft;

/** A rule of Raft is broken on this member. The member must stop at once and answer nobody. */
public final class InvariantViolation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Names the rule, and the numbers that broke it. */
  public InvariantViolation(String rule) {
    super(rule);
  }
}
