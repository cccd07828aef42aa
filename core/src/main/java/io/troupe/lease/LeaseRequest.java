package io.troupe.lease;

/**
 * A request of a client that only the leader serves, after a quorum confirmed that it leads. By
 * then the leader has applied everything that was committed before.
 *
 * @param <R> identifies the caller, which has no reply yet
 */
sealed interface LeaseRequest<R> permits LeaseProposal.Renewal, LeaseRequest.TimeToLive {
  /** Identifier of the lease. */
  long id();

  /** Caller that gets the reply. */
  R replyTo();

  /** A query of the remaining time (L7). */
  record TimeToLive<R>(long id, R replyTo) implements LeaseRequest<R> {}
}
