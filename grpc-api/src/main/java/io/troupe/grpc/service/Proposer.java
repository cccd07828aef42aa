package io.troupe.grpc.service;

import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import io.troupe.model.RequestId;
import io.troupe.model.Result;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.RaftCommand;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.RequestIds;
import io.troupe.protocol.codec.OperationCodec;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes operations to the raft room and brings their results back. A proposal whose answer does not
 * come in time may still be applied: the client is told that it timed out, never that it failed.
 */
public final class Proposer {
  private final Member member;
  private final GatewaySettings settings;
  private final RequestIds ids;
  private final AtomicLong pendingBytes = new AtomicLong();

  public Proposer(Member member, GatewaySettings settings, RequestIds ids) {
    this.member = member;
    this.settings = settings;
    this.ids = ids;
  }

  /** Proposes a client's request as the bytes that came in. */
  CompletionStage<Result> propose(OperationCodec.ClientRequest kind, Bytes request) {
    RequestId id = ids.next();
    return propose(id, OperationCodec.embed(id, kind, request));
  }

  /** Proposes an operation that the member makes. */
  public CompletionStage<Result> propose(Operation operation) {
    RequestId id = ids.next();
    return propose(id, OperationCodec.encode(id, operation));
  }

  /** An id for a lease whose client gave none (L1). */
  long nextLease() {
    return ids.nextLease();
  }

  private CompletionStage<Result> propose(RequestId id, Bytes operation) {
    if (operation.length() > settings.maxRequestBytes()) {
      throw new RefusedException(Refusal.REQUEST_TOO_LARGE);
    }
    // Bounds what waits in mailboxes, where no count of entries would.
    if (pendingBytes.addAndGet(operation.length()) > settings.maxPendingBytes()) {
      pendingBytes.addAndGet(-operation.length());
      throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
    }
    CompletableFuture<ProposeReply> reply =
        Ask.ask(
            member.raft(),
            replyTo -> new RaftCommand.Propose(id, operation, replyTo),
            settings.requestTimeout(),
            member.scheduler());
    return reply.handle(
        (answer, failure) -> {
          pendingBytes.addAndGet(-operation.length());
          if (failure != null) {
            throw new CompletionException(failure);
          }
          return result(answer);
        });
  }

  private static Result result(ProposeReply reply) {
    if (reply instanceof ProposeReply.NotProposed refused) {
      throw new RefusedException(refused.reason());
    }
    Result result = ((ProposeReply.Applied) reply).result();
    if (result instanceof Result.Refused refused) {
      throw new RefusedException(refused.reason());
    }
    return result;
  }
}
