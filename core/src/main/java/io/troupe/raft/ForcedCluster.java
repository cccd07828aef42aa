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
 * How a member whose others are lost for good continues as the only voter: one more entry behind the
 * last one of its log, which removes all others, and a hard state that has it committed. Both must
 * become durable together, before anything runs.
 *
 * <p>What is in the log counts as committed, to its end: a member does not know how much of it was,
 * because the commit index rides with the next write. So nothing is given up that a majority of the
 * former members may have acknowledged (docs/decisions/0124).
 *
 * @param state what the member begins with
 * @param removed all others, ascending
 * @param assumed entries that were not known to be committed
 */
public record ForcedCluster(RaftState state, Set<NodeId> removed, long assumed) {
  /**
   * What is to be done with what was found.
   *
   * @return empty if the member is alone already
   * @throws IllegalArgumentException saying why, if the member is no part of its cluster
   */
  public static Optional<ForcedCluster> of(RaftState found) {
    NodeId self = found.self();
    long last = found.snapshotIndex() + found.entries().size();
    Membership before = latest(found);
    if (!before.contains(self)) {
      throw new IllegalArgumentException(
          before.removed().contains(self)
              ? "it was removed from its cluster, and its id does not come back"
              : "it never learned who is in its cluster");
    }
    Set<NodeId> others = new TreeSet<>(before.members());
    others.remove(self);
    if (others.isEmpty() && before.voters().contains(self)) {
      return Optional.empty();
    }
    // A term of its own, in which it voted for nobody else.
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

  /** The entry that makes it so, the last one of the log. */
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

  /** At once and not joint: there is nobody left to agree. */
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
