package io.troupe.protocol;

import io.troupe.model.Refusal;
import io.troupe.model.Result;

/** The end of a proposal. */
public sealed interface ProposeReply {
  /**
   * It was committed and applied (which includes a refusal by the state: see {@link
   * Result.Refused}).
   *
   * @param index log index, which the state holds now
   * @param proposedNanos when the raft actor took the proposal, as {@link System#nanoTime}; 0 if
   *     nobody measured
   * @param committedNanos when that room knew the entry committed
   * @param appliedNanos when the entry was applied; the batch that it is in was written after that
   */
  record Applied(
      Result result, long index, long proposedNanos, long committedNanos, long appliedNanos)
      implements ProposeReply {
    /** Without times. */
    public Applied(Result result, long index) {
      this(result, index, 0, 0, 0);
    }
  }

  /**
   * It is not in the log and never will be. With NO_LEADER it may be proposed again: it was not
   * proposed, or the leader that had it was replaced by one that does not have it.
   */
  record NotProposed(Refusal reason) implements ProposeReply {}

  /**
   * It may have been applied: another member's snapshot took the place of the state that waited for
   * it, and does not say.
   */
  enum Unknown implements ProposeReply {
    INSTANCE
  }
}
