package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.quorum.Quorum;
import io.troupe.raft.quorum.VoteResult;
import java.util.HashSet;
import java.util.Set;

/** Tallies the votes of one election or pre-vote. Only a voter's first reply counts. */
final class VoteTally {
  private final Set<NodeId> granted = new HashSet<>();
  private final Set<NodeId> rejected = new HashSet<>();

  /** Counts a vote; returns the result of all votes so far. */
  VoteResult record(NodeId voter, boolean yes, Quorum quorum) {
    if (!hasVoted(voter)) {
      (yes ? granted : rejected).add(voter);
    }
    return quorum.tally(granted::contains, rejected::contains);
  }

  boolean hasVoted(NodeId voter) {
    return granted.contains(voter) || rejected.contains(voter);
  }
}
