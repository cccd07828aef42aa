package io.troupe.raft.quorum;

import io.troupe.model.NodeId;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/**
 * A rule that says which sets of voters are enough. Immutable. Any two sets that are enough share a
 * voter; that is all the safety of Raft rests on.
 */
public sealed interface Quorum permits MajorityQuorum, JointQuorum {
  /**
   * The highest index that enough voters store.
   *
   * @param matched per voter the highest index known to be durable there, 0 or more
   * @return 0 or more; {@code Long.MAX_VALUE} if there are no voters at all
   * @source Raft dissertation 3.5, 4.3
   */
  long committedIndex(ToLongFunction<NodeId> matched);

  /**
   * What a ballot decides.
   *
   * @param granted voters that said yes
   * @param rejected voters that said no; nobody is in both
   * @return WON without any voters at all
   */
  VoteResult tally(Predicate<NodeId> granted, Predicate<NodeId> rejected);
}
