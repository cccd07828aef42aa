package io.troupe.protocol;

import io.troupe.model.Refusal;

/** The end of a transfer of leadership. */
public sealed interface TransferReply {
  /** The target leads (or, for a hand-over, this member does not lead any more). */
  enum Done implements TransferReply {
    /** The only one. */
    INSTANCE
  }

  /**
   * It does not.
   *
   * @param reason NOT_LEADER or BAD_LEADER_TRANSFEREE: asking again is in vain. TIMED_OUT: it did
   *     not take over within an election timeout. LEADER_CHANGED: somebody else leads
   */
  record Refused(Refusal reason) implements TransferReply {}
}
