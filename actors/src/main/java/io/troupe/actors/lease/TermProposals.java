package io.troupe.actors.lease;

import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.LeaseCommand;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.Proposal;
import java.time.Duration;
import java.util.function.Predicate;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.jspecify.annotations.Nullable;

/**
 * Proposals of the lease actor. A proposal is made in the term in which the actor counted the
 * lease, or not at all (docs/decisions/0041). Used only on the actor's thread.
 */
final class TermProposals {
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private final ActorContext<LeaseCommand> context;
  private final ActorRef<RaftCommand> raft;
  private final RequestIds ids;
  private final Predicate<Operation> isPriority;

  /**
   * Proposals of one lease actor.
   *
   * @param isPriority which operations may wait when other proposals may not (Q6)
   */
  TermProposals(
      ActorContext<LeaseCommand> context,
      ActorRef<RaftCommand> raft,
      RequestIds ids,
      Predicate<Operation> isPriority) {
    this.context = context;
    this.raft = raft;
    this.ids = ids;
    this.isPriority = isPriority;
  }

  /** Makes the message that reports the outcome to the actor. */
  interface WhenEnded {
    /**
     * Makes the message.
     *
     * @param applied true if the operation was applied and took effect; if false, it may still do
     *     so
     */
    LeaseCommand ended(boolean applied);
  }

  /**
   * Proposes the operation. The actor receives the message when it was applied or refused, or after
   * 3 s.
   */
  void propose(long term, Operation operation, WhenEnded whenEnded) {
    RequestId id = ids.next();
    Proposal proposal =
        new Proposal(id, OperationCodec.encode(id, operation), isPriority.test(operation), null);
    context.ask(
        ProposeReply.class,
        raft,
        TIMEOUT,
        replyTo -> new RaftCommand.ProposeInTerm(term, proposal, replyTo),
        (reply, failure) -> whenEnded.ended(isApplied(reply)));
  }

  private static boolean isApplied(@Nullable ProposeReply reply) {
    return reply instanceof ProposeReply.Applied applied
        && !(applied.result() instanceof Result.Refused);
  }
}
