package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Requester;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.raft.Proposal;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Sends operations to the raft actor and returns their results. While no leader is known,
 * operations wait, at most for the request timeout (P9, Q8). A proposal whose reply does not arrive
 * in time may still be applied: the client receives a timeout, never a failure.
 */
public final class Proposer {
  /** What the member itself proposes has short consequences: they run on the replying thread. */
  private static final ReplyExecutor OWN = Runnable::run;

  private final Member member;
  private final GatewaySettings settings;
  private final RequestIds ids;
  private final ProposalTrace trace = new ProposalTrace(Clock.systemUTC());
  private final AtomicLong pendingBytes = new AtomicLong();

  public Proposer(Member member, GatewaySettings settings, RequestIds ids) {
    this.member = member;
    this.settings = settings;
    this.ids = ids;
  }

  /** Proposes a client's request in its received encoding. */
  CompletionStage<Result> propose(
      Requester who, OperationCodec.ClientRequest kind, Bytes request, Call call) {
    return propose(
        embedded(who, kind, request, call.trace()), call.trace(), call.memory(), call.executor());
  }

  /** Proposes a request of the member itself (A17) whose response holds no records. */
  CompletionStage<Result> propose(OperationCodec.ClientRequest kind, Bytes request) {
    Proposal proposal = embedded(Requester.MEMBER, kind, request, CallTrace.NONE);
    return propose(proposal, CallTrace.NONE, null, OWN);
  }

  private Proposal embedded(
      Requester who, OperationCodec.ClientRequest kind, Bytes request, CallTrace call) {
    RequestId id = ids.next();
    return new Proposal(id, OperationCodec.embed(id, who, kind, request), false, call.context());
  }

  /** Proposes an operation on behalf of a client; its response holds no records. */
  CompletionStage<Result> propose(Requester who, Operation operation, Call call) {
    return propose(who, operation, call.trace(), call.executor());
  }

  private CompletionStage<Result> propose(
      Requester who, Operation operation, CallTrace call, ReplyExecutor executor) {
    RequestId id = ids.next();
    Bytes data = OperationCodec.encode(id, who, operation);
    boolean priority = settings.priorityRevokes() && operation instanceof Operation.LeaseRevoke;
    return propose(new Proposal(id, data, priority, call.context()), call, null, executor);
  }

  /** Proposes an operation of the member itself, which needs no permission (A17). */
  public CompletionStage<Result> propose(Operation operation) {
    return propose(Requester.MEMBER, operation, CallTrace.NONE, OWN);
  }

  /**
   * Proposes an operation of the member itself that only the leader of one term may make. It is not
   * repeated: in any other term, and if a snapshot replaces the state meanwhile, it is refused with
   * NOT_LEADER. It may have been made nevertheless.
   */
  CompletionStage<Result> proposeInTerm(long term, Operation operation) {
    RequestId id = ids.next();
    Proposal proposal =
        new Proposal(id, OperationCodec.encode(id, Requester.MEMBER, operation), false, null);
    member.metrics().raft().proposed();
    return member
        .replies()
        .<RaftCommand, ProposeReply>ask(
            member.raft(),
            replyTo -> new RaftCommand.ProposeInTerm(term, proposal, replyTo),
            settings.requestTimeout())
        .whenComplete(
            (reply, failure) ->
                member.metrics().raft().proposalEnded(reply instanceof ProposeReply.Applied))
        .thenCompose(
            reply ->
                reply instanceof ProposeReply.Unknown
                    ? CompletableFuture.failedFuture(new RefusedException(Refusal.NOT_LEADER))
                    : CompletableFuture.completedFuture(result(reply)));
  }

  /** Longest time of a request. */
  Duration requestTimeout() {
    return settings.requestTimeout();
  }

  /** An ID for a proposal of another kind. */
  RequestId nextId() {
    return ids.next();
  }

  /** An ID for a lease whose client gave none (L1). */
  long nextLease() {
    return ids.nextLease();
  }

  private CompletionStage<Result> propose(
      Proposal proposal,
      CallTrace call,
      MemoryBudget.@Nullable Share response,
      ReplyExecutor executor) {
    int length = proposal.operation().length();
    if (length > settings.maxRequestBytes()) {
      throw new RefusedException(Refusal.REQUEST_TOO_LARGE);
    }
    // Bounds the memory of mailboxes, which a number of entries would not. Priority proposals are
    // small.
    if (pendingBytes.addAndGet(length) > settings.maxPendingBytes() && !proposal.isPriority()) {
      pendingBytes.addAndGet(-length);
      throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
    }
    PendingProposal waiting = new PendingProposal(proposal, call, response, executor);
    member.metrics().raft().proposed();
    waiting.propose();
    return waiting.outcome;
  }

  /** A proposal until its completion. */
  private final class PendingProposal {
    private final CallTrace call;
    private final MemoryBudget.@Nullable Share response;
    private final ReplyExecutor executor;
    private final long startNanos = System.nanoTime();
    private final CompletableFuture<Result> outcome = new CompletableFuture<>();
    private volatile Proposal proposal;

    PendingProposal(
        Proposal proposal,
        CallTrace call,
        MemoryBudget.@Nullable Share response,
        ReplyExecutor executor) {
      this.proposal = proposal;
      this.response = response;
      this.call = call;
      this.executor = executor;
    }

    void propose() {
      Duration left =
          settings.requestTimeout().minus(Duration.ofNanos(System.nanoTime() - startNanos));
      if (left.isNegative() || left.isZero()) {
        end(null, Call.deadlineExceeded());
        return;
      }
      CompletionStage<ProposeReply> replied =
          member
              .replies()
              .ask(
                  member.raft(),
                  replyTo -> new RaftCommand.Propose(proposal, replyTo, response),
                  left);
      replied.whenComplete(
          (reply, failure) -> {
            Runnable handling = () -> replied(reply, failure, left);
            if (reply instanceof ProposeReply.Applied applied) {
              executor.execute(handling, applied.batch());
            } else {
              executor.execute(handling);
            }
          });
    }

    private void replied(@Nullable ProposeReply reply, @Nullable Throwable failure, Duration left) {
      if (reply instanceof ProposeReply.NotProposed refused
          && refused.reason() == Refusal.NO_LEADER) {
        awaitLeader(left);
      } else if (reply instanceof ProposeReply.Unknown) {
        // Like a lost reply: no reply will arrive.
        end(null, new TimeoutException("the state was replaced by a snapshot"));
      } else {
        end(reply, failure);
      }
    }

    /**
     * P9: the proposal is in no log and never will be, so it may be proposed again as soon as there
     * is a leader. With another ID: a late refusal of the first proposal must not count for the
     * second.
     */
    private void awaitLeader(Duration atMost) {
      LeaderWait.await(member, atMost, settings.tick())
          .whenComplete(
              (leader, failure) -> {
                if (failure != null) {
                  end(null, Call.deadlineExceeded());
                } else {
                  RequestId id = ids.next();
                  proposal =
                      new Proposal(
                          id,
                          OperationCodec.withId(id, proposal.operation()),
                          proposal.isPriority(),
                          proposal.trace());
                  propose();
                }
              });
    }

    /** Q7: the proposal started within two election timeouts before a leader was elected. */
    private boolean startedBeforeElection() {
      OptionalLong elected = member.status().leaderSinceNanos();
      if (elected.isEmpty()) {
        return false;
      }
      long before = elected.getAsLong() - startNanos;
      return before > 0 && before < 2 * settings.electionTimeout().toNanos();
    }

    private Throwable timedOut(Throwable plain) {
      if (startedBeforeElection()) {
        return lostWith("previous leader failure");
      }
      return member.status().isConnectedSince(startNanos) ? plain : lostWith("connection lost");
    }

    private void end(@Nullable ProposeReply reply, @Nullable Throwable failure) {
      pendingBytes.addAndGet(-proposal.operation().length());
      member.metrics().raft().proposalEnded(reply instanceof ProposeReply.Applied);
      if (reply instanceof ProposeReply.Applied applied) {
        long endNanos = System.nanoTime();
        trace.ended(proposal.id(), proposal.operation(), startNanos, endNanos, applied);
        if (call.isRecorded()) {
          WriteSteps.trace(call, startNanos, endNanos, applied, member.metrics().disk().walSyncs());
        }
      }
      if (reply == null) {
        Throwable why = Objects.requireNonNull(failure);
        outcome.completeExceptionally(why instanceof TimeoutException ? timedOut(why) : why);
        return;
      }
      try {
        outcome.complete(result(reply));
      } catch (RefusedException refused) {
        outcome.completeExceptionally(refused);
      }
    }
  }

  /** Q7: the status of a lost request, with the possible reason. */
  private static GrpcException lostWith(String reason) {
    return new GrpcException(
        GrpcStatus.UNAVAILABLE, "etcdserver: request timed out, possibly due to " + reason);
  }

  private static Result result(ProposeReply reply) {
    if (reply instanceof ProposeReply.NotProposed refused) {
      throw new RefusedException(refused.reason());
    }
    Result result = ((ProposeReply.Applied) reply).result();
    if (result instanceof Result.Refused refused) {
      throw new RefusedException(refused.reason());
    }
    if (result instanceof Result.ResponseTooLarge) {
      throw new RefusedException(Refusal.RESPONSE_TOO_LARGE);
    }
    return result;
  }
}
