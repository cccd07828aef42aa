package io.troupe.simulation.history;

/**
 * A request and its outcome.
 *
 * @param session which run of which member was asked; answers of one session never go back
 * @param request what was asked
 * @param invokedUs virtual microseconds when it left the client
 * @param returnedUs when the answer came; {@link #NEVER} without one
 * @param answer what came of it
 */
public record Call(long session, Request request, long invokedUs, long returnedUs, Answer answer) {
  /** The time of an answer that never came. */
  public static final long NEVER = Long.MAX_VALUE;

  /** True if nobody knows what became of it. */
  public boolean isUnknown() {
    return answer == Answer.Unknown.INSTANCE;
  }
}
