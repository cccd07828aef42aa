package io.troupe.raft.membership;

import io.troupe.model.NodeId;

/**
 * One change of the membership, as the state machine decodes it from an entry of kind CONF_CHANGE.
 *
 * @param kind what happens to {@code member}
 * @param member whom it concerns
 */
public record ConfChange(Kind kind, NodeId member) {
  /** What happens. The numbers are on disk and on the wire: never reuse one. */
  public enum Kind {
    /** A new voter, or a learner that is promoted. */
    ADD_VOTER(0),
    /** A new learner. */
    ADD_LEARNER(1),
    /** The member leaves for good. */
    REMOVE(2),
    /** Name or addresses change (a member publishes itself, B1); voters and learners stay. */
    UPDATE(3);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** The number on disk and on the wire. */
    public int code() {
      return code;
    }

    /**
     * The kind with that number.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Kind ofCode(int code) {
      for (Kind kind : values()) {
        if (kind.code == code) {
          return kind;
        }
      }
      throw new IllegalArgumentException("unknown kind of membership change " + code);
    }
  }
}
