package io.troupe.raft.quorum;

import io.troupe.model.NodeId;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Both majorities at the same time, while the voters change from one set to another. Immutable.
 *
 * @param incoming the voters that will remain
 * @param outgoing the former voters
 * @source Raft dissertation 4.3
 */
public record JointQuorum(MajorityQuorum incoming, MajorityQuorum outgoing) implements Quorum {
  @Override
  public long committedIndex(ToLongFunction<NodeId> matched) {
    return Math.min(incoming.committedIndex(matched), outgoing.committedIndex(matched));
  }

  @Override
  public VoteResult tally(Predicate<NodeId> granted, Predicate<NodeId> rejected) {
    VoteResult in = incoming.tally(granted, rejected);
    VoteResult out = outgoing.tally(granted, rejected);
    if (in == VoteResult.LOST || out == VoteResult.LOST) {
      return VoteResult.LOST;
    }
    return in == out ? in : VoteResult.PENDING;
  }
}
