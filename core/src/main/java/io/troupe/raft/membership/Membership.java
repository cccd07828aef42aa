package io.troupe.raft.membership;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.raft.quorum.JointQuorum;
import io.troupe.raft.quorum.MajorityQuorum;
import io.troupe.raft.quorum.Quorum;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The members of a cluster. Names and addresses of members are stored elsewhere. Immutable; all
 * sets iterate ascending.
 *
 * <p>While {@code outgoing} is not empty the membership is joint: elections and commits need a
 * majority of {@code voters} and one of {@code outgoing}. Removed voters are {@code leaving} for
 * one more entry: they may stop only when a majority of the remaining voters is known to know that
 * the joint membership has ended.
 *
 * @param version index of the log entry that created it; 0 for one that a member was started with
 * @param voters members that vote and count for a majority; while joint, those that will remain
 * @param learners members that only receive the log (M12); no member is both learner and voter
 * @param outgoing while joint, the former voters; else empty
 * @param leaving no longer voters, but still members
 * @param removed former members; their ids are never used again (M6)
 * @source Raft dissertation 4.3
 */
public record Membership(
    long version,
    Set<NodeId> voters,
    Set<NodeId> learners,
    Set<NodeId> outgoing,
    Set<NodeId> leaving,
    Set<NodeId> removed) {
  /** No members: the membership of a member that waits for a leader. */
  public static final Membership EMPTY = new Membership(Set.of(), Set.of());

  /**
   * Copies the sets.
   *
   * @throws IllegalArgumentException if a member has two parts that exclude each other, or is
   *     {@link NodeId#NONE}
   */
  public Membership {
    // Sorted copies: the order in which peers are served must not depend on hashing.
    voters = Collections.unmodifiableSet(new TreeSet<>(voters));
    learners = Collections.unmodifiableSet(new TreeSet<>(learners));
    outgoing = Collections.unmodifiableSet(new TreeSet<>(outgoing));
    leaving = Collections.unmodifiableSet(new TreeSet<>(leaving));
    removed = Collections.unmodifiableSet(new TreeSet<>(removed));
    if (!Collections.disjoint(voters, learners) || !Collections.disjoint(outgoing, learners)) {
      throw new IllegalArgumentException("both voter and learner: " + voters + " " + learners);
    }
    for (Set<NodeId> present : List.of(voters, learners, outgoing, leaving)) {
      if (present.contains(NodeId.NONE)) {
        throw new IllegalArgumentException("member id is missing");
      }
      if (!Collections.disjoint(present, removed)) {
        throw new IllegalArgumentException("both present and removed: " + present + " " + removed);
      }
    }
    if (!Collections.disjoint(leaving, voters) || !Collections.disjoint(leaving, learners)) {
      throw new IllegalArgumentException("both leaving and staying: " + leaving);
    }
    if (version < 0) {
      throw new IllegalArgumentException("negative version " + version);
    }
  }

  /** An initial membership: not joint, no removed members. */
  public Membership(Set<NodeId> voters, Set<NodeId> learners) {
    this(0, voters, learners, Set.of(), Set.of(), Set.of());
  }

  /** Voters only. */
  public static Membership ofVoters(NodeId... voters) {
    return new Membership(new TreeSet<>(List.of(voters)), Set.of());
  }

  /** True while two majorities are needed. */
  public boolean isJoint() {
    return !outgoing.isEmpty();
  }

  /** True if the next change is allowed, because this one needs no further entry. */
  public boolean isTransitionComplete() {
    return outgoing.isEmpty() && leaving.isEmpty();
  }

  /** All members that receive the log, ascending. */
  public Set<NodeId> members() {
    Set<NodeId> members = allVoters();
    members.addAll(learners);
    members.addAll(leaving);
    return members;
  }

  /** All members whose vote may be requested, ascending. */
  public Set<NodeId> allVoters() {
    Set<NodeId> all = new TreeSet<>(voters);
    all.addAll(outgoing);
    return all;
  }

  /** True if {@code member} receives the log. */
  public boolean contains(NodeId member) {
    return isVoter(member) || learners.contains(member) || leaving.contains(member);
  }

  /** True if the vote of {@code member} counts, perhaps only temporarily. */
  public boolean isVoter(NodeId member) {
    return voters.contains(member) || outgoing.contains(member);
  }

  /** The majority, or majorities, that elections and commits need. */
  public Quorum quorum() {
    MajorityQuorum majority = new MajorityQuorum(voters);
    return isJoint() ? new JointQuorum(majority, new MajorityQuorum(outgoing)) : majority;
  }

  /**
   * Returns the reason for which changes are invalid here, or null. Addresses are not checked.
   *
   * @param changes applied one after the other; each member at most once
   */
  public @Nullable Refusal refusalOf(List<ConfChange> changes) {
    if (!isTransitionComplete()) {
      return Refusal.TOO_MANY_REQUESTS;
    }
    Set<NodeId> named = new HashSet<>();
    int left = voters.size();
    for (ConfChange change : changes) {
      NodeId member = change.member();
      Refusal refusal = named.add(member) ? refusalOf(change) : Refusal.MEMBER_ID_EXISTS;
      if (refusal != null) {
        return refusal;
      }
      left +=
          switch (change.kind()) {
            case ADD_VOTER, PROMOTE -> 1;
            case REMOVE -> voters.contains(member) ? -1 : 0;
            case ADD_LEARNER, UPDATE -> 0;
          };
    }
    return left == 0 ? Refusal.NOT_ENOUGH_STARTED_MEMBERS : null;
  }

  private @Nullable Refusal refusalOf(ConfChange change) {
    NodeId member = change.member();
    return switch (change.kind()) {
      case ADD_VOTER, ADD_LEARNER ->
          member.isNone() || contains(member) || removed.contains(member)
              ? Refusal.MEMBER_ID_EXISTS
              : null;
      case REMOVE, UPDATE -> contains(member) ? null : Refusal.MEMBER_NOT_FOUND;
      case PROMOTE ->
          learners.contains(member)
              ? null
              : contains(member) ? Refusal.NOT_A_LEARNER : Refusal.MEMBER_NOT_FOUND;
    };
  }

  /**
   * The membership after changes: joint if the voters change, and there were any.
   *
   * @param index index of the entry with the changes
   * @throws IllegalArgumentException if {@link #refusalOf} returns a refusal
   */
  public Membership after(List<ConfChange> changes, long index) {
    Refusal refusal = refusalOf(changes);
    if (refusal != null) {
      throw new IllegalArgumentException(changes + " in " + this + ": " + refusal);
    }
    Set<NodeId> nextVoters = new TreeSet<>(voters);
    Set<NodeId> nextLearners = new TreeSet<>(learners);
    Set<NodeId> nextRemoved = new TreeSet<>(removed);
    for (ConfChange change : changes) {
      NodeId member = change.member();
      switch (change.kind()) {
        case ADD_VOTER -> nextVoters.add(member);
        case ADD_LEARNER -> nextLearners.add(member);
        case PROMOTE -> {
          nextLearners.remove(member);
          nextVoters.add(member);
        }
        case REMOVE -> {
          if (nextLearners.remove(member)) {
            nextRemoved.add(member);
          } else {
            // Still needed temporarily; next() removes it.
            nextVoters.remove(member);
          }
        }
        case UPDATE -> {}
      }
    }
    Collection<NodeId> nextOutgoing = nextVoters.equals(voters) ? Set.of() : voters;
    return new Membership(
        index, nextVoters, nextLearners, Set.copyOf(nextOutgoing), Set.of(), nextRemoved);
  }

  /**
   * The membership that follows automatically: the end of the joint one, then the removal of the
   * leaving voters.
   *
   * @param index index of the entry with the new membership
   * @throws IllegalArgumentException if the transition is already complete
   */
  public Membership next(long index) {
    if (isTransitionComplete()) {
      throw new IllegalArgumentException("transition is already complete: " + this);
    }
    if (isJoint()) {
      Set<NodeId> gone = new TreeSet<>(outgoing);
      gone.removeAll(voters);
      return new Membership(index, voters, learners, Set.of(), gone, removed);
    }
    Set<NodeId> nextRemoved = new TreeSet<>(removed);
    nextRemoved.addAll(leaving);
    return new Membership(index, voters, learners, Set.of(), Set.of(), nextRemoved);
  }
}
