package io.troupe.lease;

import io.troupe.model.Refusal;
import java.util.List;

/**
 * The effects that the shell of a {@link LeaseCore} must execute. An implementation never calls the
 * core from inside one of these methods: it queues.
 *
 * @param <R> identifies the caller that gets a reply; each caller gets one reply at most
 */
public interface LeaseEffects<R> {
  /**
   * Proposes the operation if this member leads in the proposal's term. Completed once by {@link
   * LeaseCore#proposalEnded}, at the latest after some seconds.
   */
  void propose(LeaseProposal<R> proposal);

  /**
   * Requests a confirmation by a quorum, in a round that begins now, that this member leads in a
   * term. Completed once by {@link LeaseCore#leadershipConfirmed}; at most one is in progress.
   */
  void confirmLeadership(long term);

  /**
   * Replies to a renewal.
   *
   * @param ttlSeconds the granted time; 0 if the lease does not exist
   */
  void renewed(R replyTo, long id, long ttlSeconds);

  /**
   * Replies to a query of the remaining time.
   *
   * @param remainingSeconds -1 if the lease does not exist; may be 0 or less if it expired and
   *     waits for its revoke
   * @param grantedSeconds 0 if the lease does not exist
   */
  void remaining(R replyTo, long id, long remainingSeconds, long grantedSeconds);

  /** Replies with all leases, ascending by remaining time on the leader. */
  void leases(R replyTo, List<Long> ids);

  /** Replies that this member cannot execute the request. */
  void failed(R replyTo, Refusal reason);
}
