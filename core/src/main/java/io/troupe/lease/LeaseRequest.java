package io.troupe.lease;

import java.util.List;

/**
 * A request of a client that only the leader serves, after a quorum confirmed that it leads. By
 * then the leader has applied everything that was committed before.
 *
 * @param <R> identifies the caller, which has no reply yet
 */
sealed interface LeaseRequest<R>
    permits LeaseProposal.Renewal, LeaseRequest.RenewAll, LeaseRequest.TimeToLive {
  /** Caller that gets the reply. */
  R replyTo();

  /**
   * Renewals that another member forwards; they get one reply.
   *
   * @param numbered true if the reply has a number
   */
  record RenewAll<R>(List<Long> ids, boolean numbered, R replyTo) implements LeaseRequest<R> {}

  /** A query of the remaining time (L7). */
  record TimeToLive<R>(long id, R replyTo) implements LeaseRequest<R> {}
}
