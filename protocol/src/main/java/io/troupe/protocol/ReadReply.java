package io.troupe.protocol;

import io.troupe.model.Refusal;

/** The end of a read index round. */
public sealed interface ReadReply {
  /** The state holds everything that was committed when the round began. */
  record Ready(long index) implements ReadReply {}

  /** No leader could confirm. */
  record Failed(Refusal reason) implements ReadReply {}
}
