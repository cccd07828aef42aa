package io.troupe.simulation.history;

/**
 * A request and its outcome.
 *
 * @param session identifies one run of the called member; results of one session never go back
 * @param request the request
 * @param invokedUs virtual microseconds when the client sent it
 * @param returnedUs when the response arrived; {@link #NEVER} without one
 * @param answer the outcome
 */
public record Call(long session, Request request, long invokedUs, long returnedUs, Answer answer) {
  /** The time of a response that never arrived. */
  public static final long NEVER = Long.MAX_VALUE;

  /** True if the outcome is unknown. */
  public boolean isUnknown() {
    return answer == Answer.Unknown.INSTANCE;
  }
}
