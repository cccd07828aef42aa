package io.troupe.protocol;

import io.troupe.model.Refusal;

/** The outcome of a read index round. */
public sealed interface ReadReply {
  /**
   * The state has applied everything that was committed when the round started.
   *
   * @param confirmedNanos time when the raft actor knew the index, as {@link System#nanoTime}; the
   *     rest of the time was spent waiting for the state
   */
  record Ready(long index, long confirmedNanos) implements ReadReply {}

  /** No leader confirmed the round. */
  record Failed(Refusal reason) implements ReadReply {}
}
