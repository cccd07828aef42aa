package io.troupe.raft;

import io.troupe.model.NodeId;

/**
 * Where a member stands. A copy, for reporting.
 *
 * @param role what it is
 * @param term current term, 0 before the first election
 * @param leader the leader of that term as far as known, or {@link NodeId#NONE}
 * @param commit highest index known to be committed
 * @param applied highest index the state machine holds; at most {@code commit}
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
    long firstIndex) {}
