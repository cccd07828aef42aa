package io.troupe.simulation.history;

import io.troupe.model.Refusal;
import io.troupe.model.Result;

/** What became of a request, as its client knows. */
public sealed interface Answer {
  /** It took place; {@link Result.Refused} if the state refused it. */
  record Done(Result result) implements Answer {}

  /** It did not take place and never will. */
  record Refused(Refusal reason) implements Answer {}

  /**
   * The lease was renewed.
   *
   * @param ttlSeconds full time again; 0 if there is no such lease any more
   */
  record Renewed(long ttlSeconds) implements Answer {}

  /** No answer in time: it may have taken place, or may yet, or never. */
  enum Unknown implements Answer {
    /** The only one. */
    INSTANCE
  }
}
