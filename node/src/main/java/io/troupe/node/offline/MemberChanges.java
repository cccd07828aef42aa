package io.troupe.node.offline;

import io.troupe.etcd.MemberChange;
import io.troupe.machine.StateView;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Translates etcd's changes of members. etcd changes one member at a time and without a joint
 * membership, and checks each change once more when it applies it. Pure.
 */
final class MemberChanges {
  private MemberChanges() {}

  /**
   * Translates a change.
   *
   * @param index of its entry
   * @param state before the entry
   * @return null if etcd refuses the change
   * @throws CommandException if no voter would be left
   */
  static @Nullable ConfEntry of(MemberChange change, long index, StateView state) {
    if (isRefused(change, state)) {
      return null;
    }
    Membership before = state.membership();
    NodeId member = change.member();
    Set<NodeId> voters = new TreeSet<>(before.voters());
    Set<NodeId> learners = new TreeSet<>(before.learners());
    Set<NodeId> removed = new TreeSet<>(before.removed());
    ConfChange.Kind kind =
        switch (change.kind()) {
          case ADD_VOTER -> {
            voters.add(member);
            yield ConfChange.Kind.ADD_VOTER;
          }
          case ADD_LEARNER -> {
            learners.add(member);
            yield ConfChange.Kind.ADD_LEARNER;
          }
          case PROMOTE -> {
            learners.remove(member);
            voters.add(member);
            yield ConfChange.Kind.PROMOTE;
          }
          case REMOVE -> {
            voters.remove(member);
            learners.remove(member);
            removed.add(member);
            yield ConfChange.Kind.REMOVE;
          }
          case UPDATE -> ConfChange.Kind.UPDATE;
        };
    if (voters.isEmpty()) {
      throw new CommandException("it removes the last voter");
    }
    return new ConfEntry(
        null,
        List.of(new ConfChange(kind, member, change.peerUrls().stream().sorted().toList())),
        new Membership(index, voters, learners, Set.of(), Set.of(), removed));
  }

  private static boolean isRefused(MemberChange change, StateView state) {
    Membership before = state.membership();
    NodeId member = change.member();
    if (before.removed().contains(member)) {
      return true;
    }
    return switch (change.kind()) {
      case ADD_VOTER, ADD_LEARNER ->
          member.isNone() || before.contains(member) || isUsedByOther(change, state);
      case PROMOTE -> !before.learners().contains(member);
      case REMOVE -> !before.contains(member);
      case UPDATE -> !before.contains(member) || isUsedByOther(change, state);
    };
  }

  /** True if another member has one of the peer URLs. */
  private static boolean isUsedByOther(MemberChange change, StateView state) {
    Set<String> used = new HashSet<>();
    state
        .peerUrls()
        .forEach(
            (member, urls) -> {
              if (!member.equals(change.member())) {
                used.addAll(urls);
              }
            });
    return change.peerUrls().stream().anyMatch(used::contains);
  }
}
