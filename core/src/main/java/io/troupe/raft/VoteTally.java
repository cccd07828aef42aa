package io.troupe.raft;

import io.troupe.model.NodeId;
import io.troupe.raft.quorum.Quorum;
import io.troupe.raft.quorum.VoteResult;
import java.util.HashSet;
import java.util.Set;

/** The votes of one election, or of the question before it. The first word of a voter counts. */
final class VoteTally {
  private final Set<NodeId> granted = new HashSet<>();
  private final Set<NodeId> rejected = new HashSet<>();

  /** Counts a vote; returns what all votes so far decide. */
  VoteResult record(NodeId voter, boolean yes, Quorum quorum) {
    if (!hasAnswered(voter)) {
      (yes ? granted : rejected).add(voter);
    }
    return quorum.tally(granted::contains, rejected::contains);
  }

  boolean hasAnswered(NodeId voter) {
    return granted.contains(voter) || rejected.contains(voter);
  }
}
