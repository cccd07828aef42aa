package io.troupe.protocol;

import io.troupe.model.NodeId;
import java.time.Duration;

/** What travels between the members' query actors: questions outside of Raft, and their answers. */
public sealed interface QueryFrame
    permits QueryFrame.Question, QueryFrame.Reply, QueryFrame.Private {
  /** Stands for the cluster of somebody that is of none yet. */
  long NO_CLUSTER = 0;

  /**
   * A question, repeated as it is until it is answered or over.
   *
   * @param clusterId cluster of the caller; {@link #NO_CLUSTER} if it is of none yet, which may
   *     ask for the members only
   * @param from who asks; NONE if it is of no cluster yet
   * @param number tells the questions of one process apart, also from those of the process before
   * @param replyUrl peer URL where the answer is awaited
   * @param timeout from when the first copy was sent; nobody waits for an answer after it
   */
  record Question(
      long clusterId, NodeId from, long number, String replyUrl, Duration timeout, PeerQuery query)
      implements QueryFrame {
    /** Checks that there is time to answer. */
    public Question {
      if (timeout.isNegative() || timeout.isZero()) {
        throw new IllegalArgumentException("a question without time: " + timeout);
      }
    }
  }

  /**
   * An answer.
   *
   * @param clusterId cluster of whoever answers; {@link #NO_CLUSTER} if it is of none yet
   * @param number of the question
   */
  record Reply(long clusterId, long number, PeerAnswer answer) implements QueryFrame {}

  /** Only the owner's timers and what it is told inside of its process. */
  non-sealed interface Private extends QueryFrame {}
}
