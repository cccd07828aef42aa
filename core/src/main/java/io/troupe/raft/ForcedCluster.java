package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * How a member whose peers are permanently lost continues as the only voter: one more entry after
 * the last one of its log, which removes all other members, and a hard state that commits it. Both
 * must become durable together, before anything runs.
 *
 * <p>The whole log counts as committed: a member does not know how much of it was, because the
 * commit index is saved with the next write. So no entry is lost that a majority of the former
 * members may have acknowledged (docs/decisions/0124).
 *
 * @param state state with which the member starts
 * @param removed all other members, ascending
 * @param assumed entries that were not known to be committed
 */
public record ForcedCluster(RaftState state, Set<NodeId> removed, long assumed) {
  /**
   * Computes the forced state from the recovered one.
   *
   * @return empty if the member is already alone
   * @throws IllegalArgumentException with the reason, if the member is not part of its cluster
   */
  public static Optional<ForcedCluster> of(RaftState found) {
    NodeId self = found.self();
    long last = found.snapshotIndex() + found.entries().size();
    Membership before = latest(found);
    if (!before.contains(self)) {
      throw new IllegalArgumentException(
          before.removed().contains(self)
              ? "member was removed from its cluster, its id cannot be used again"
              : "member never learned the members of its cluster");
    }
    Set<NodeId> others = new TreeSet<>(before.members());
    others.remove(self);
    if (others.isEmpty() && before.voters().contains(self)) {
      return Optional.empty();
    }
    // A new term, in which this member voted only for itself.
    long term = found.hardState().term() + 1;
    HardState hard = new HardState(term, self, last + 1);
    ConfEntry conf = entry(before, self, others, last + 1);
    List<Entry> entries = new ArrayList<>(found.entries());
    entries.add(new Entry(term, last + 1, Entry.Kind.CONF_CHANGE, MembershipCodec.encode(conf)));
    RaftState state =
        new RaftState(
            self,
            hard,
            found.membership(),
            found.snapshotIndex(),
            found.snapshotTerm(),
            entries,
            found.applied());
    long known = Math.max(found.hardState().commit(), found.applied());
    return Optional.of(new ForcedCluster(state, Collections.unmodifiableSet(others), last - known));
  }

  /** The entry with the forced membership, the last one of the log. */
  public Entry entry() {
    return state.entries().get(state.entries().size() - 1);
  }

  /** The membership at the end of the log, whether committed or not. */
  private static Membership latest(RaftState found) {
    Membership latest = found.membership();
    for (Entry entry : found.entries()) {
      if (entry.kind() == Entry.Kind.CONF_CHANGE && entry.index() > found.applied()) {
        latest = MembershipCodec.decodeEntry(entry.data()).after();
      }
    }
    return latest;
  }

  /** Immediately and not joint: no other member is left to agree. */
  private static ConfEntry entry(Membership before, NodeId self, Set<NodeId> others, long index) {
    List<ConfChange> changes = new ArrayList<>();
    if (before.learners().contains(self)) {
      changes.add(new ConfChange(ConfChange.Kind.PROMOTE, self));
    }
    Set<NodeId> removed = new TreeSet<>(before.removed());
    for (NodeId other : others) {
      changes.add(new ConfChange(ConfChange.Kind.REMOVE, other));
      removed.add(other);
    }
    return new ConfEntry(
        null, changes, new Membership(index, Set.of(self), Set.of(), Set.of(), Set.of(), removed));
  }
}
