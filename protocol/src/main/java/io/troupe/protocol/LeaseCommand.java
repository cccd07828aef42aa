package io.troupe.protocol;

import io.troupe.lease.LeaseChange;
import io.troupe.model.Lease;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import java.util.List;

/** Messages to the lease actor. */
public sealed interface LeaseCommand {
  /** Renews a lease; the reply is sent when the outcome is certain (L5). */
  record KeepAlive(long id, ReplyTo<LeaseReply> replyTo) implements LeaseCommand {}

  /**
   * Renews leases for clients of another member; one reply for all, without a wait for entries.
   *
   * @param from the member
   */
  record KeepAliveAll(NodeId from, PeerQuery.RenewQuery query, ReplyTo<LeaseReply> replyTo)
      implements LeaseCommand {}

  /** Queries the remaining time of a lease (L7). */
  record TimeToLive(long id, ReplyTo<LeaseReply> replyTo) implements LeaseCommand {}

  /** Queries all leases, sorted by remaining time (L8). */
  record ListLeases(ReplyTo<LeaseReply> replyTo) implements LeaseCommand {}

  /** Effects of applied entries on leases, in order. */
  record Changed(List<LeaseChange> changes) implements LeaseCommand {}

  /**
   * This member became leader: the countdown starts.
   *
   * @param leases all granted leases
   * @param term term in which it leads
   */
  record Promoted(List<Lease> leases, long term) implements LeaseCommand {}

  /**
   * The state has applied everything that was committed before this member became leader.
   *
   * @param term term in which it leads
   */
  record StateCaughtUp(long term) implements LeaseCommand {}

  /** This member is no longer leader. */
  enum Demoted implements LeaseCommand {
    /** The only instance. */
    INSTANCE
  }

  /** Internal messages: timers and adapted replies. */
  non-sealed interface Private extends LeaseCommand {}

  /** Replies of the lease actor. */
  sealed interface LeaseReply {
    /** The lease is renewed; the TTL is 0 if it does not exist. */
    record Renewed(long id, long ttlSeconds) implements LeaseReply {}

    /** Reply to {@link KeepAliveAll}. */
    record RenewedAll(PeerReply.Renewed renewed) implements LeaseReply {}

    /**
     * Remaining and granted time.
     *
     * @param remainingSeconds -1 if the lease does not exist; may be 0 or less if it expired and
     *     waits for its revoke
     * @param grantedSeconds 0 if the lease does not exist
     */
    record Remaining(long id, long remainingSeconds, long grantedSeconds) implements LeaseReply {}

    /** Ids, sorted by remaining time. */
    record Leases(List<Long> ids) implements LeaseReply {}

    /** This member cannot execute the request. */
    record Failed(Refusal reason) implements LeaseReply {}
  }
}
