package io.troupe.lease;

import io.troupe.model.NodeId;
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
   * term. Completed once by {@link LeaseCore#leadershipConfirmed}; at most one is in progress for
   * each supporter.
   *
   * @param supporter a member that has sent a request in this term, which counts as its
   *     confirmation; NONE if there is none
   */
  void confirmLeadership(long term, NodeId supporter);

  /**
   * Requests a call of {@link LeaseCore#confirmWaiting} after about {@link
   * LeaseCore#FOLLOWERS_CONFIRM_WITHIN_MS}; at most one is in progress.
   */
  void confirmWaitingLater();

  /**
   * Replies to a renewal.
   *
   * @param ttlSeconds the granted time; 0 if the lease does not exist
   */
  void renewed(R replyTo, long id, long ttlSeconds);

  /** In a reply to {@link #renewedAll}: ask again. */
  long NOT_YET = -1;

  /**
   * Replies to the renewals that another member forwards.
   *
   * @param ttlSeconds for each renewal in order the granted time; 0 if the lease does not exist;
   *     {@link #NOT_YET} if its reply needs an entry of the log, so that it would delay the others:
   *     the revoke of an expired lease, or the deletion of a checkpoint
   * @param number which the next request of that member must show, so that it confirms the requests
   *     that wait here; 0 if none waits
   */
  void renewedAll(R replyTo, List<Long> ttlSeconds, long number);

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
