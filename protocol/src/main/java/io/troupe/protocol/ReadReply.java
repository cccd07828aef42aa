package io.troupe.protocol;

import io.troupe.model.Refusal;

/** The end of a read index round. */
public sealed interface ReadReply {
  /**
   * The state holds everything that was committed when the round began.
   *
   * @param confirmedNanos when the raft actor knew the index, as {@link System#nanoTime}; what came
   *     after was waiting for the state
   */
  record Ready(long index, long confirmedNanos) implements ReadReply {}

  /** No leader could confirm. */
  record Failed(Refusal reason) implements ReadReply {}
}
