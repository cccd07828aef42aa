package io.troupe.protocol;

import io.troupe.machine.LeaseChange;
import io.troupe.model.Lease;
import io.troupe.model.Refusal;
import java.util.List;
import org.apache.pekko.actor.typed.ActorRef;

/** What the lease actor takes. */
public sealed interface LeaseCommand {
  /** Renews; answered once the outcome is certain (L5). */
  record KeepAlive(long id, ActorRef<LeaseReply> replyTo) implements LeaseCommand {}

  /** Asks how long a lease has left (L7). */
  record TimeToLive(long id, ActorRef<LeaseReply> replyTo) implements LeaseCommand {}

  /** All leases, soonest end first (L8). */
  record ListLeases(ActorRef<LeaseReply> replyTo) implements LeaseCommand {}

  /** What applied entries did to leases, in order. */
  record Changed(List<LeaseChange> changes) implements LeaseCommand {}

  /**
   * This member leads now: it counts from here on.
   *
   * @param leases all that are granted
   * @param term in which it leads
   */
  record Promoted(List<Lease> leases, long term) implements LeaseCommand {}

  /**
   * The state holds all that was committed before this member led.
   *
   * @param term in which it leads
   */
  record StateCaughtUp(long term) implements LeaseCommand {}

  /** This member leads no more. */
  enum Demoted implements LeaseCommand {
    /** The only one. */
    INSTANCE
  }

  /** Only the owner's timers and adapted replies. */
  non-sealed interface Private extends LeaseCommand {}

  /** Answers of the lease actor. */
  sealed interface LeaseReply {
    /** Renewed, or ttl 0 when there is no such lease. */
    record Renewed(long id, long ttlSeconds) implements LeaseReply {}

    /**
     * Remaining and granted time.
     *
     * @param remainingSeconds -1 when there is no such lease; may be 0 or less when it waits for
     *     its end
     * @param grantedSeconds 0 when there is no such lease
     */
    record Remaining(long id, long remainingSeconds, long grantedSeconds) implements LeaseReply {}

    /** Ids, soonest end first. */
    record Leases(List<Long> ids) implements LeaseReply {}

    /** Cannot be answered here. */
    record Failed(Refusal reason) implements LeaseReply {}
  }
}
