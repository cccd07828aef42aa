package io.troupe.raft.quorum;

import io.troupe.model.NodeId;
import java.util.Arrays;
import java.util.Collection;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;

/** More than half of one set of voters. Immutable. */
public final class MajorityQuorum implements Quorum {
  private final NodeId[] voters;

  /**
   * A majority of {@code voters}, each named once; an empty set is allowed and always satisfied.
   */
  public MajorityQuorum(Collection<NodeId> voters) {
    this.voters = voters.toArray(new NodeId[0]);
    Arrays.sort(this.voters);
  }

  @Override
  public long committedIndex(ToLongFunction<NodeId> matched) {
    int n = voters.length;
    if (n == 0) {
      return Long.MAX_VALUE;
    }
    if (n == 1) {
      return matched.applyAsLong(voters[0]);
    }
    long[] sorted = new long[n];
    for (int i = 0; i < n; i++) {
      sorted[i] = matched.applyAsLong(voters[i]);
    }
    Arrays.sort(sorted);
    // Ascending: the values from this position on are a majority, and each is at least this one.
    return sorted[n - (n / 2 + 1)];
  }

  @Override
  public VoteResult tally(Predicate<NodeId> granted, Predicate<NodeId> rejected) {
    int yes = 0;
    int no = 0;
    for (NodeId voter : voters) {
      if (granted.test(voter)) {
        yes++;
      } else if (rejected.test(voter)) {
        no++;
      }
    }
    int needed = voters.length / 2 + 1;
    if (voters.length == 0 || yes >= needed) {
      return VoteResult.WON;
    }
    return voters.length - no < needed ? VoteResult.LOST : VoteResult.PENDING;
  }

  @Override
  public String toString() {
    return Arrays.toString(voters);
  }
}
