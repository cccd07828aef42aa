package io.troupe.raft;

import io.troupe.model.NodeId;

/**
 * Status of a member. A copy, for reporting.
 *
 * @param role its role
 * @param term current term, 0 before the first election
 * @param leader the leader of that term if known, or {@link NodeId#NONE}
 * @param commit highest index known to be committed
 * @param applied highest index the state machine has applied; at most {@code commit}
 * @param lastIndex highest index in the log; 0 if there never was one
 * @param firstIndex lowest index after the snapshot; lastIndex + 1 if there is none
 */
public record RaftStatus(
    RaftRole role,
    long term,
    NodeId leader,
    long commit,
    long applied,
    long lastIndex,
    long firstIndex) {

  /** True if the member leads in this term. */
  public boolean leadsIn(long inTerm) {
    return role == RaftRole.LEADER && term == inTerm;
  }

  /**
   * True if the member follows this leader in this term: then they are in one cluster, and every
   * entry that the leader has applied is in the log of this member or will be
   * (docs/decisions/0156).
   */
  public boolean follows(NodeId sender, long inTerm) {
    return leader.equals(sender) && term == inTerm;
  }
}
