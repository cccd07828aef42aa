package io.troupe.protocol;

import io.troupe.model.Refusal;
import io.troupe.model.Result;

/** The outcome of a proposal. */
public sealed interface ProposeReply {
  /**
   * The entry was committed and applied (which includes a refusal by the state: see {@link
   * Result.Refused}).
   *
   * @param index log index, which the state has applied
   * @param proposedNanos time when the raft actor accepted the proposal, as {@link
   *     System#nanoTime}; 0 if it was not measured
   * @param committedNanos time when the raft actor learned that the entry is committed
   * @param appliedNanos time when the entry was applied; its batch was written after that
   * @param batch the replies that are sent together with this one
   */
  record Applied(
      Result result,
      long index,
      long proposedNanos,
      long committedNanos,
      long appliedNanos,
      ReplyBatch batch)
      implements ProposeReply {
    /** Alone, without times. */
    public Applied(Result result, long index) {
      this(result, index, 0, 0, 0, ReplyBatch.ALONE);
    }
  }

  /**
   * The proposal is not in the log and never will be. With NO_LEADER it may be proposed again: it
   * was not proposed, or its leader was replaced by one that does not have it.
   */
  record NotProposed(Refusal reason) implements ProposeReply {}

  /**
   * The entry may have been applied: the snapshot of another member replaced the state that waited
   * for it, and does not contain its outcome.
   */
  enum Unknown implements ProposeReply {
    INSTANCE
  }
}
