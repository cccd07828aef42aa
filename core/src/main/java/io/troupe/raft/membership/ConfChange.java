package io.troupe.raft.membership;

import io.troupe.model.NodeId;
import java.util.List;

/**
 * One change of the membership.
 *
 * @param kind what happens to {@code member}
 * @param member whom it concerns
 * @param peerUrls where the member listens for its peers, sorted; only for ADD_VOTER, ADD_LEARNER
 *     and UPDATE, empty otherwise
 */
public record ConfChange(Kind kind, NodeId member, List<String> peerUrls) {
  /** Copies the list. */
  public ConfChange {
    peerUrls = List.copyOf(peerUrls);
  }

  /** A change that names no addresses. */
  public ConfChange(Kind kind, NodeId member) {
    this(kind, member, List.of());
  }

  /** What happens. The numbers are on disk and on the wire: never reuse one. */
  public enum Kind {
    /** A new voter. */
    ADD_VOTER(0),
    /** A new learner. */
    ADD_LEARNER(1),
    /** The member leaves for good. */
    REMOVE(2),
    /** Addresses change; voters and learners stay (M7). */
    UPDATE(3),
    /** A learner becomes a voter (M8). */
    PROMOTE(4);

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
