package io.troupe.raft.membership;

import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides which changes of the membership are allowed, and which of etcd's refusals applies
 * otherwise, in etcd's order of checks. Pure: the caller passes what it knows of the members.
 *
 * <p>A change is checked by the member that received the request, against its applied state. {@link
 * Membership#version} of that state is part of the proposal, and the leader accepts the proposal
 * only if the version did not change.
 *
 * @source etcd surface 2.11 (M1-M8, M12)
 */
public final class MembershipRules {
  private MembershipRules() {}

  /**
   * Input from the state machine.
   *
   * @param peerUrls of every member, sorted by text
   * @param started members that published their attributes (M3)
   */
  public record Facts(
      Membership membership, Map<NodeId, List<String>> peerUrls, Set<NodeId> started) {
    /** Copies both collections. */
    public Facts {
      peerUrls = Map.copyOf(peerUrls);
      started = Set.copyOf(started);
    }
  }

  /**
   * Members that the checking member can reach, itself included in both sets.
   *
   * @param connected reachable now
   * @param steady reachable for 5 s without a gap
   */
  public record Liveness(Set<NodeId> connected, Set<NodeId> steady) {
    /** Copies both sets. */
    public Liveness {
      connected = Set.copyOf(connected);
      steady = Set.copyOf(steady);
    }
  }

  /**
   * Settings of the checks.
   *
   * @param strict strict-reconfig-check
   * @param maxLearners 1 by default (M4)
   */
  public record Limits(boolean strict, int maxLearners) {}

  /** M1, M2, M4, M5. The gateway checks the syntax of addresses. */
  public static @Nullable Refusal refuseAdd(
      Facts facts, ConfChange add, Limits limits, Liveness liveness) {
    Membership membership = facts.membership();
    boolean learner = add.kind() == ConfChange.Kind.ADD_LEARNER;
    if (limits.strict()) {
      int voters = membership.voters().size();
      int started = startedVoters(facts, NodeId.NONE);
      // A single member may always be extended: otherwise no cluster could start with one member.
      boolean firstGrowth = voters == 1 && started == 1;
      if (!learner && !firstGrowth && started < majority(voters + 1)) {
        return Refusal.NOT_ENOUGH_STARTED_MEMBERS;
      }
      if (voters > 1 && votersIn(membership, liveness.steady()) < majority(voters + 1)) {
        return Refusal.UNHEALTHY_CLUSTER;
      }
    }
    Refusal refusal = membership.refusalOf(List.of(add));
    if (refusal != null) {
      return refusal;
    }
    if (isUrlTaken(facts, add)) {
      return Refusal.PEER_URL_EXISTS;
    }
    return learner && membership.learners().size() + 1 > limits.maxLearners()
        ? Refusal.TOO_MANY_LEARNERS
        : null;
  }

  /**
   * M6. Learners and voters that are down may always be removed, as long as a quorum remains. The
   * checking member itself is up, so its own removal needs a quorum of the others.
   */
  public static @Nullable Refusal refuseRemove(
      Facts facts, NodeId member, Limits limits, Liveness liveness) {
    Membership membership = facts.membership();
    if (limits.strict() && !membership.learners().contains(member)) {
      int rest = membership.voters().size() - (membership.voters().contains(member) ? 1 : 0);
      if (rest == 0 || startedVoters(facts, member) < majority(rest)) {
        return Refusal.NOT_ENOUGH_STARTED_MEMBERS;
      }
      boolean connected = liveness.connected().contains(member);
      if (connected && votersIn(membership, liveness.steady()) - 1 < majority(rest)) {
        return Refusal.UNHEALTHY_CLUSTER;
      }
    }
    return membership.refusalOf(List.of(new ConfChange(ConfChange.Kind.REMOVE, member)));
  }

  /** M7. */
  public static @Nullable Refusal refuseUpdate(Facts facts, ConfChange update) {
    Refusal refusal = facts.membership().refusalOf(List.of(update));
    if (refusal != null) {
      return refusal;
    }
    return isUrlTaken(facts, update) ? Refusal.PEER_URL_EXISTS : null;
  }

  /**
   * M8, on the leader; the check that the member is a learner is the last one.
   *
   * @param match highest index known to be durable at {@code member}
   * @param leaderMatch the same of the leader itself
   */
  public static @Nullable Refusal refusePromote(
      Facts facts, NodeId member, Limits limits, long match, long leaderMatch) {
    Membership membership = facts.membership();
    if (!membership.contains(member)) {
      return Refusal.MEMBER_NOT_FOUND;
    }
    if (!isInSync(match, leaderMatch)) {
      return Refusal.LEARNER_NOT_READY;
    }
    // The learner itself counts as started, because it is in sync.
    int voters = membership.voters().size() + 1;
    if (limits.strict() && startedVoters(facts, NodeId.NONE) + 1 < majority(voters)) {
      return Refusal.NOT_ENOUGH_STARTED_MEMBERS;
    }
    return membership.refusalOf(List.of(new ConfChange(ConfChange.Kind.PROMOTE, member)));
  }

  /** True if {@code match} is at least 90 % of {@code leaderMatch} (M8). */
  public static boolean isInSync(long match, long leaderMatch) {
    return match >= leaderMatch * 0.9;
  }

  /**
   * The addresses after an entry is applied, as the state machine stores them. Depends on nothing
   * else.
   */
  public static SortedMap<NodeId, List<String>> peerUrlsAfter(
      Map<NodeId, List<String>> before, ConfEntry entry) {
    SortedMap<NodeId, List<String>> urls = new TreeMap<>(before);
    for (ConfChange change : entry.effective()) {
      switch (change.kind()) {
        case ADD_VOTER, ADD_LEARNER, UPDATE -> urls.put(change.member(), change.peerUrls());
        case REMOVE -> urls.remove(change.member());
        case PROMOTE -> {}
      }
    }
    return Collections.unmodifiableSortedMap(urls);
  }

  private static boolean isUrlTaken(Facts facts, ConfChange change) {
    return facts.peerUrls().entrySet().stream()
        .filter(other -> !other.getKey().equals(change.member()))
        .anyMatch(other -> !Collections.disjoint(other.getValue(), change.peerUrls()));
  }

  private static int startedVoters(Facts facts, NodeId without) {
    int started = 0;
    for (NodeId voter : facts.membership().voters()) {
      if (!voter.equals(without) && facts.started().contains(voter)) {
        started++;
      }
    }
    return started;
  }

  private static int votersIn(Membership membership, Set<NodeId> some) {
    return (int) membership.voters().stream().filter(some::contains).count();
  }

  private static int majority(int voters) {
    return voters / 2 + 1;
  }
}
