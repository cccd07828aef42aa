package io.troupe.raft.membership;

import io.troupe.model.NodeId;
import io.troupe.raft.quorum.MajorityQuorum;
import io.troupe.raft.quorum.Quorum;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Who takes part. Names and addresses of members are kept elsewhere. Immutable.
 *
 * @param voters members that vote and count for a majority; iterates ascending
 * @param learners members that only receive the log (M12); iterates ascending; nobody is in both
 */
public record Membership(Set<NodeId> voters, Set<NodeId> learners) {
  /** Nobody: a member that waits to be told. */
  public static final Membership EMPTY = new Membership(Set.of(), Set.of());

  /**
   * Copies both sets.
   *
   * @throws IllegalArgumentException if a member is in both, or is {@link NodeId#NONE}
   */
  public Membership {
    // Sorted copies: the order in which peers are served must not depend on hashing.
    voters = Collections.unmodifiableSet(new TreeSet<>(voters));
    learners = Collections.unmodifiableSet(new TreeSet<>(learners));
    if (!Collections.disjoint(voters, learners)) {
      throw new IllegalArgumentException("voter and learner at once: " + voters + " " + learners);
    }
    if (voters.contains(NodeId.NONE) || learners.contains(NodeId.NONE)) {
      throw new IllegalArgumentException("a member needs an id");
    }
  }

  /** Voters only. */
  public static Membership ofVoters(NodeId... voters) {
    return new Membership(new TreeSet<>(List.of(voters)), Set.of());
  }

  /** True if {@code member} is a voter or a learner. */
  public boolean contains(NodeId member) {
    return voters.contains(member) || learners.contains(member);
  }

  /** True if {@code member} votes. */
  public boolean isVoter(NodeId member) {
    return voters.contains(member);
  }

  /** The majority that elections and commits need. */
  public Quorum quorum() {
    return new MajorityQuorum(voters);
  }

  /**
   * The membership after one change.
   *
   * @throws IllegalArgumentException if the change makes no sense here: promoting a voter to
   *     learner, removing or updating someone unknown, removing the last voter (M6)
   */
  public Membership with(ConfChange change) {
    Set<NodeId> nextVoters = new TreeSet<>(voters);
    Set<NodeId> nextLearners = new TreeSet<>(learners);
    NodeId member = change.member();
    boolean sensible =
        switch (change.kind()) {
          case ADD_VOTER -> {
            nextLearners.remove(member);
            yield nextVoters.add(member);
          }
          case ADD_LEARNER -> !voters.contains(member) && nextLearners.add(member);
          case REMOVE ->
              nextLearners.remove(member) || (voters.size() > 1 && nextVoters.remove(member));
          case UPDATE -> contains(member);
        };
    if (!sensible) {
      throw new IllegalArgumentException(change + " makes no sense in " + this);
    }
    return new Membership(nextVoters, nextLearners);
  }
}
