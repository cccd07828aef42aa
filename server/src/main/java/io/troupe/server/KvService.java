package io.troupe.server;

import io.troupe.grpc.api.CompactionResponse;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.PutResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.convert.ApiConverter;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec.ClientRequest;
import io.troupe.protocol.codec.RequestCodec;
import io.troupe.txn.CompareLimit;
import io.troupe.txn.RequestChecks;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Sections 2.3 to 2.8. Requests are encoded: a write that passed the checks enters the log
 * unchanged. Refusals are thrown as RefusedException or complete the stage with one.
 */
public final class KvService {
  private final Member member;
  private final GatewaySettings settings;
  private final Proposer proposer;
  private final ReadIndexBatcher reads;
  private final Quota quota;
  private final CallerResolver callers;

  KvService(
      Member member,
      GatewaySettings settings,
      Proposer proposer,
      ReadIndexBatcher reads,
      Quota quota,
      CallerResolver callers) {
    this.callers = callers;
    this.member = member;
    this.settings = settings;
    this.proposer = proposer;
    this.reads = reads;
    this.quota = quota;
  }

  /** Section 2.3. */
  public CompletionStage<RangeResponse> range(Bytes request, Call call) throws IOException {
    RequestCodec.RangeRead read = RequestCodec.range(request);
    RangeQuery query = read.query();
    check(RequestChecks.range(query));
    if (!read.serializable() && member.isLearner()) {
      throw new RefusedException(Refusal.LEARNER);
    }
    if (read.serializable() && query.range().isSingle()) {
      return callers
          .of(call)
          .thenCompose(
              who ->
                  reads.serializablePoint(
                      call.trace(), () -> rangeInMemory(query, call), () -> range(query, call)));
    }
    ReadIndexBatcher.Kind kind =
        query.range().isSingle() ? ReadIndexBatcher.Kind.POINT : ReadIndexBatcher.Kind.RANGE;
    return read.serializable()
        ? serializable(call, kind, () -> range(query, call))
        : reads.linearizable(call.trace(), kind, () -> range(query, call));
  }

  /** Identifying the caller may require a wait; everything else is read from the current state. */
  private <T> CompletionStage<T> serializable(
      Call call, ReadIndexBatcher.Kind kind, Supplier<T> read) {
    return callers.of(call).thenCompose(who -> reads.serializable(call.trace(), kind, read));
  }

  private static void check(@Nullable Refusal refusal) {
    if (refusal != null) {
      throw new RefusedException(refusal);
    }
  }

  private RangeResponse range(RangeQuery query, Call call) {
    RangeResult result = permitted(query, call, () -> member.state().range(query, call.memory()));
    return ApiConverter.range(member.header(result.revision()), result);
  }

  private <T extends @Nullable Object> T permitted(RangeQuery query, Call call, Supplier<T> read) {
    // Queued reads of a client that has disconnected, or does not read, are rejected before they
    // cost anything.
    if (call.memory().isExceeded()) {
      throw new RefusedException(Refusal.TOO_MANY_REQUESTS);
    }
    return callers.read(call, (authorizer, who) -> authorizer.read(who, query.range()), read);
  }

  private @Nullable RangeResponse rangeInMemory(RangeQuery query, Call call) {
    RangeResult result = permitted(query, call, () -> member.state().rangeInMemory(query));
    return result == null ? null : ApiConverter.range(member.header(result.revision()), result);
  }

  /** Section 2.4. */
  public CompletionStage<RangeStreamCursor> rangeStream(Bytes request, Call call)
      throws IOException {
    RequestCodec.RangeRead read = RequestCodec.range(request);
    RangeQuery query = read.query();
    check(RequestChecks.range(query));
    boolean keyOrder =
        query.order() == RangeQuery.SortOrder.NONE
            || (query.order() == RangeQuery.SortOrder.ASCEND
                && query.target() == RangeQuery.SortTarget.KEY);
    if (!keyOrder) {
      throw new GrpcException(
          GrpcStatus.UNIMPLEMENTED, "RangeStream does not support custom sort orders");
    }
    if (query.hasRevisionFilter()) {
      throw new GrpcException(
          GrpcStatus.UNIMPLEMENTED, "RangeStream does not support revision filters");
    }
    return read.serializable()
        ? serializable(call, ReadIndexBatcher.Kind.POINT, () -> open(query, call))
        : reads.linearizable(call.trace(), ReadIndexBatcher.Kind.POINT, () -> open(query, call));
  }

  /** Rights are checked once; a change of rights is reported at the end (GS6). */
  private RangeStreamCursor open(RangeQuery query, Call call) {
    return callers.read(
        call,
        (authorizer, who) -> authorizer.read(who, query.range()),
        () -> RangeStreamCursor.open(member, settings, query, call, callers));
  }

  /** Section 2.5. */
  public CompletionStage<PutResponse> put(Bytes request, Call call) throws IOException {
    Operation.Put put = RequestCodec.put(request);
    quota.admit(put);
    check(RequestChecks.put(put));
    return callers
        .writer(call)
        .thenCompose(who -> proposer.propose(who, ClientRequest.PUT, request, call))
        .thenApply(
            result -> {
              Result.Put done = (Result.Put) result;
              return ApiConverter.put(member.header(done.revision()), done);
            });
  }

  /** Section 2.6. */
  public CompletionStage<DeleteRangeResponse> deleteRange(Bytes request, Call call)
      throws IOException {
    check(RequestChecks.deleteRange(RequestCodec.deleteRange(request)));
    return callers
        .writer(call)
        .thenCompose(who -> proposer.propose(who, ClientRequest.DELETE_RANGE, request, call))
        .thenApply(
            result -> {
              Result.DeleteRange done = (Result.DeleteRange) result;
              return ApiConverter.deleteRange(member.header(done.revision()), done);
            });
  }

  /** Section 2.7. */
  public CompletionStage<TxnResponse> txn(Bytes request, Call from) throws IOException {
    long startNanos = System.nanoTime();
    RequestCodec.TxnCall call = RequestCodec.txn(request);
    quota.admit(call.txn());
    check(RequestChecks.txn(call.txn(), settings.maxTxnOps()));
    CompletionStage<Result> result;
    if (!call.readOnly()) {
      result =
          callers
              .writer(from)
              .thenCompose(
                  who ->
                      tried(call.txn(), from)
                          .thenCompose(
                              done -> proposer.propose(who, ClientRequest.TXN, request, from)));
    } else if (call.serializable()) {
      result = serializable(from, ReadIndexBatcher.Kind.RANGE, () -> read(call.txn(), from));
    } else {
      result =
          reads.linearizable(
              from.trace(), ReadIndexBatcher.Kind.RANGE, () -> read(call.txn(), from));
    }
    return result
        .whenComplete(
            (done, failure) ->
                member
                    .metrics()
                    .rpc()
                    .transaction(call.readOnly(), failure == null, System.nanoTime() - startNanos))
        .thenApply(
            end -> {
              Result.Txn done = (Result.Txn) end;
              return ApiConverter.txn(member.header(done.revision()), done);
            });
  }

  /**
   * Evaluates the range compares of a transaction before it is proposed; without range compares
   * this does nothing.
   */
  private CompletionStage<Boolean> tried(Operation.Txn txn, Call call) {
    if (!CompareLimit.hasRanges(txn)) {
      return CompletableFuture.completedFuture(true);
    }
    return reads.serializable(
        call.trace(),
        ReadIndexBatcher.Kind.RANGE,
        () -> {
          member.state().tryCompares(txn, call.memory());
          return true;
        });
  }

  private Result read(Operation.Txn txn, Call call) {
    return callers.read(
        call,
        (authorizer, who) -> authorizer.transaction(who, txn),
        () -> member.state().txn(txn, call.memory()));
  }

  /** Section 2.8. */
  public CompletionStage<CompactionResponse> compact(Bytes request, Call from) throws IOException {
    RequestCodec.CompactCall call = RequestCodec.compact(request);
    return callers
        .writer(from)
        .thenCompose(who -> proposer.propose(who, ClientRequest.COMPACT, request, from))
        .thenCompose(
            result -> {
              CompletionStage<Void> removed =
                  call.physical()
                      ? member.state().compactionDone(call.revision())
                      : CompletableFuture.completedFuture(null);
              long revision = ((Result.Compact) result).revision();
              return removed.thenApply(done -> ApiConverter.compact(member.header(revision)));
            });
  }
}
