package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.time.Duration;

/** Messages between the members' query actors: queries outside of Raft, and their replies. */
public sealed interface QueryFrame permits QueryFrame.Query, QueryFrame.Reply, QueryFrame.Private {
  /** Cluster id of a process without a cluster. */
  long NO_CLUSTER = 0;

  /**
   * A query, sent repeatedly until a reply arrives or the timeout expires.
   *
   * @param clusterId cluster of the sender; {@link #NO_CLUSTER} if it has none yet, then it may
   *     query only the members
   * @param from sender; NONE if it has no cluster yet
   * @param number distinguishes the queries of one process, also from those of an earlier process
   * @param replyUrl peer URL for the reply
   * @param timeout counts from the first copy; a later reply is ignored
   */
  record Query(
      long clusterId, NodeId from, long number, String replyUrl, Duration timeout, PeerQuery query)
      implements QueryFrame {
    /** Checks that the timeout is positive. */
    public Query {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException("query timeout must be positive: " + timeout);
      }
    }
  }

  /**
   * A reply.
   *
   * @param clusterId cluster of the replying process; {@link #NO_CLUSTER} if it has none yet
   * @param number number of the query
   */
  record Reply(long clusterId, long number, PeerReply answer) implements QueryFrame {}

  /** Internal messages of the query actor. */
  non-sealed interface Private extends QueryFrame {}
}
