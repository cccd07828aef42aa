package io.troupe.protocol;

import io.troupe.model.Refusal;

/** The outcome of a leadership transfer. */
public sealed interface TransferReply {
  /** The target leads (or, before a stop, this member no longer leads). */
  enum Done implements TransferReply {
    /** The only instance. */
    INSTANCE
  }

  /**
   * The transfer failed.
   *
   * @param reason NOT_LEADER or BAD_LEADER_TRANSFEREE: a retry is pointless. TIMED_OUT: the target
   *     did not become leader within an election timeout. LEADER_CHANGED: another member leads
   */
  record Refused(Refusal reason) implements TransferReply {}
}
