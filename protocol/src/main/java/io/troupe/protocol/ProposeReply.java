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
   */
  record Applied(Result result, long index) implements ProposeReply {}

  /** It never entered the log. */
  record NotProposed(Refusal reason) implements ProposeReply {}
}
