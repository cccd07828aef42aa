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
 * Who takes part. Names and addresses of members are kept elsewhere. Immutable; all sets iterate
 * ascending.
 *
 * <p>While {@code outgoing} is not empty the membership is joint: elections and commits need a
 * majority of {@code voters} and one of {@code outgoing}. Voters that go away are {@code leaving}
 * for one more entry: only when a majority of the remaining ones is known to know that the joint
 * membership has ended may they end.
 *
 * @param version index of the log entry that made it; 0 for one that a member was started with
 * @param voters members that vote and count for a majority; while joint, those that will remain
 * @param learners members that only receive the log (M12); nobody is a voter too
 * @param outgoing while joint, the voters there were; else empty
 * @param leaving voters no longer, still members
 * @param removed members that left for good; their ids never come back (M6)
 * @source Raft dissertation 4.3
 */
public record Membership(
    long version,
    Set<NodeId> voters,
    Set<NodeId> learners,
    Set<NodeId> outgoing,
    Set<NodeId> leaving,
    Set<NodeId> removed) {
  /** Nobody: a member that waits to be told. */
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
      throw new IllegalArgumentException("voter and learner at once: " + voters + " " + learners);
    }
    for (Set<NodeId> present : List.of(voters, learners, outgoing, leaving)) {
      if (present.contains(NodeId.NONE)) {
        throw new IllegalArgumentException("a member needs an id");
      }
      if (!Collections.disjoint(present, removed)) {
        throw new IllegalArgumentException("present and removed: " + present + " " + removed);
      }
    }
    if (!Collections.disjoint(leaving, voters) || !Collections.disjoint(leaving, learners)) {
      throw new IllegalArgumentException("leaving and staying: " + leaving);
    }
    if (version < 0) {
      throw new IllegalArgumentException("version " + version);
    }
  }

  /** What a member is started with: not joint, nobody removed. */
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

  /** True if the next change may come: this one needs no further entry. */
  public boolean isTransitionComplete() {
    return outgoing.isEmpty() && leaving.isEmpty();
  }

  /** All that receive the log, ascending. */
  public Set<NodeId> members() {
    Set<NodeId> members = allVoters();
    members.addAll(learners);
    members.addAll(leaving);
    return members;
  }

  /** All that may be asked for a vote, ascending. */
  public Set<NodeId> allVoters() {
    Set<NodeId> all = new TreeSet<>(voters);
    all.addAll(outgoing);
    return all;
  }

  /** True if {@code member} receives the log. */
  public boolean contains(NodeId member) {
    return isVoter(member) || learners.contains(member) || leaving.contains(member);
  }

  /** True if the vote of {@code member} counts, if only for a while. */
  public boolean isVoter(NodeId member) {
    return voters.contains(member) || outgoing.contains(member);
  }

  /** The majority, or majorities, that elections and commits need. */
  public Quorum quorum() {
    MajorityQuorum majority = new MajorityQuorum(voters);
    return isJoint() ? new JointQuorum(majority, new MajorityQuorum(outgoing)) : majority;
  }

  /**
   * Why changes make no sense here, or null if they do. Addresses are not checked.
   *
   * @param changes made one after the other; each member at most once
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
   * @param index of the entry that makes it so
   * @throws IllegalArgumentException if {@link #refusalOf} has an objection
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
            // Still needed for a while; next() lets it go.
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
   * The membership that follows without anybody's asking: the end of the joint one, then the end of
   * the leaving voters.
   *
   * @param index of the entry that makes it so
   * @throws IllegalArgumentException if this is settled
   */
  public Membership next(long index) {
    if (isTransitionComplete()) {
      throw new IllegalArgumentException("settled: " + this);
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
