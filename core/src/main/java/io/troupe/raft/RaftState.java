package io.troupe.raft;

import io.troupe.model.Entry;
import io.troupe.model.HardState;
import io.troupe.model.Invariant;
import io.troupe.model.NodeId;
import io.troupe.raft.membership.ConfChange;
import io.troupe.raft.membership.ConfEntry;
import io.troupe.raft.membership.Membership;
import io.troupe.raft.membership.MembershipCodec;
import java.util.List;

/**
 * The state that a member recovers from its disk at start. All of it is durable.
 *
 * @param self this member
 * @param hardState the last one stored
 * @param membership as of {@code applied}
 * @param snapshotIndex last index covered by the snapshot, 0 without one
 * @param snapshotTerm term of that index, 0 without a snapshot
 * @param entries entries after {@code snapshotIndex}, contiguous, oldest first
 * @param applied applied index of the state machine; snapshotIndex &lt;= applied &lt;= last index
 */
public record RaftState(
    NodeId self,
    HardState hardState,
    Membership membership,
    long snapshotIndex,
    long snapshotTerm,
    List<Entry> entries,
    long applied) {
  /**
   * Copies the list and checks for typical disk errors.
   *
   * @throws Invariant.Broken if the parts are inconsistent: a gap, a decreasing term, an applied or
   *     committed index above the end of the log
   */
  public RaftState {
    entries = List.copyOf(entries);
    Invariant.require(!self.isNone(), "member id is missing");
    Invariant.require(snapshotIndex >= 0 && snapshotTerm >= 0, "negative snapshot position");
    long index = snapshotIndex;
    long term = snapshotTerm;
    for (Entry entry : entries) {
      Invariant.require(
          entry.index() == index + 1, "gap in the recovered log", index, entry.index());
      Invariant.require(
          entry.term() >= term, "term decreases in the recovered log", term, entry.term());
      index = entry.index();
      term = entry.term();
    }
    Invariant.require(
        term <= hardState.term(),
        "log is of a later term than the hard state",
        term,
        hardState.term());
    Invariant.require(
        hardState.commit() <= index,
        "commit index above the end of the log",
        hardState.commit(),
        index);
    Invariant.require(
        membership.version() <= applied,
        "membership is newer than the applied index",
        membership.version(),
        applied);
    Invariant.require(
        snapshotIndex <= applied && applied <= index,
        "applied index outside the log",
        applied,
        index);
  }

  /**
   * The state of a member with a state machine and a log.
   *
   * @param applied index of the last applied entry, 0 if there is none
   * @param appliedTerm term of that entry
   * @param recent the end of the log: all entries after {@code applied}, and perhaps some before it
   * @throws Invariant.Broken as the constructor
   */
  public static RaftState recovered(
      NodeId self,
      HardState hardState,
      Membership membership,
      long applied,
      long appliedTerm,
      List<Entry> recent) {
    long before = applied;
    long beforeTerm = appliedTerm;
    List<Entry> entries = recent;
    if (!recent.isEmpty() && recent.get(0).index() == 1) {
      // The whole log is here: no entry precedes it, and a new member also needs its first entry.
      before = 0;
      beforeTerm = 0;
    } else if (!recent.isEmpty() && recent.get(0).index() <= applied) {
      // Applied entries are kept for other members. Of the first one only the position is used,
      // because the term of the entry before it is unknown.
      before = recent.get(0).index();
      beforeTerm = recent.get(0).term();
      entries = recent.subList(1, recent.size());
    }
    return new RaftState(self, hardState, membership, before, beforeTerm, entries, applied);
  }

  /**
   * The state of an initial member of a new cluster, the same for all of them: its log starts with
   * the membership.
   *
   * @param members changes that add each of them, with their addresses
   */
  public static RaftState bootstrap(NodeId self, List<ConfChange> members) {
    ConfEntry entry = ConfEntry.bootstrap(members);
    Invariant.require(entry.after().contains(self), "initial member is not among the members");
    return new RaftState(
        self,
        new HardState(1, NodeId.NONE, 1),
        Membership.EMPTY,
        0,
        0,
        List.of(new Entry(1, 1, Entry.Kind.CONF_CHANGE, MembershipCodec.encode(entry))),
        0);
  }

  /** The state of a member that never ran. With {@link Membership#EMPTY} it waits for a leader. */
  public static RaftState fresh(NodeId self, Membership membership) {
    return new RaftState(self, HardState.INITIAL, membership, 0, 0, List.of(), 0);
  }
}
