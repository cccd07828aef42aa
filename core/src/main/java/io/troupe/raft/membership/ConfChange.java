package io.troupe.raft.membership;

import io.troupe.model.NodeId;
import java.util.List;

/**
 * One change of the membership.
 *
 * @param kind kind of the change
 * @param member member that changes
 * @param peerUrls peer URLs of the member, sorted; only for ADD_VOTER, ADD_LEARNER and UPDATE,
 *     empty otherwise
 */
public record ConfChange(Kind kind, NodeId member, List<String> peerUrls) {
  /** Copies the list. */
  public ConfChange {
    peerUrls = List.copyOf(peerUrls);
  }

  /** A change without addresses. */
  public ConfChange(Kind kind, NodeId member) {
    this(kind, member, List.of());
  }

  /** Kind of change. The numbers are on disk and on the wire: never reuse one. */
  public enum Kind {
    /** Adds a voter. */
    ADD_VOTER(0),
    /** Adds a learner. */
    ADD_LEARNER(1),
    /** Removes a member permanently. */
    REMOVE(2),
    /** Changes addresses; voters and learners stay (M7). */
    UPDATE(3),
    /** Promotes a learner to a voter (M8). */
    PROMOTE(4);

    private final int code;

    Kind(int code) {
      this.code = code;
    }

    /** Returns the number used on disk and on the wire. */
    public int code() {
      return code;
    }

    /**
     * Returns the kind with the given number.
     *
     * @throws IllegalArgumentException if no kind has that number
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
