package io.troupe.raft.quorum;

import io.troupe.model.NodeId;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * Decides which sets of voters are a quorum. Immutable. Any two quorums share a voter; the safety
 * of Raft depends on nothing else.
 */
public sealed interface Quorum permits MajorityQuorum, JointQuorum {
  /**
   * The highest index that a quorum stores.
   *
   * @param matched per voter the highest index known to be durable there, 0 or more
   * @return 0 or more; {@code Long.MAX_VALUE} if there are no voters at all
   * @source Raft dissertation 3.5, 4.3
   */
  long committedIndex(ToLongFunction<NodeId> matched);

  /**
   * The result of an election.
   *
   * @param granted voters that granted their vote
   * @param rejected voters that refused it; disjoint from {@code granted}
   * @return WON if there are no voters
   */
  VoteResult tally(Predicate<NodeId> granted, Predicate<NodeId> rejected);
}
