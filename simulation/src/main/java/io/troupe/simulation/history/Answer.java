package io.troupe.simulation.history;

import io.troupe.model.Refusal;
import io.troupe.model.Result;

/** Outcome of a request, as its client knows it. */
public sealed interface Answer {
  /** The request took effect; {@link Result.Refused} if the state refused it. */
  record Done(Result result) implements Answer {}

  /** The request did not take effect and never will. */
  record Refused(Refusal reason) implements Answer {}

  /**
   * The lease was renewed.
   *
   * @param ttlSeconds the full time; 0 if the lease does not exist
   */
  record Renewed(long ttlSeconds) implements Answer {}

  /**
   * The remaining time of a lease.
   *
   * @param remainingSeconds -1 if the lease does not exist
   * @param ttlSeconds the full time; 0 if the lease does not exist
   */
  record Remaining(long remainingSeconds, long ttlSeconds) implements Answer {}

  /** No response in time: the request may have taken effect, may still do so, or never will. */
  enum Unknown implements Answer {
    /** The only one. */
    INSTANCE
  }
}
