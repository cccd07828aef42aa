package io.troupe.protocol;

import io.troupe.model.Refusal;

/** The end of a transfer of leadership. */
public sealed interface TransferReply {
  /** The target leads (or, for a hand-over, this member does not lead any more). */
  enum Done implements TransferReply {
    /** The only one. */
    INSTANCE
  }

  /** The leadership did not go there. */
  record Refused(Refusal reason) implements TransferReply {}
}
