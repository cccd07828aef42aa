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
    long firstIndex) {}
