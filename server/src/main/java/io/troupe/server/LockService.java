package io.troupe.server;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.ResponseHeader;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.lock.LockRequest;
import io.troupe.grpc.api.lock.LockResponse;
import io.troupe.grpc.api.lock.UnlockRequest;
import io.troupe.grpc.api.lock.UnlockResponse;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Section 2.18. All its state is in keys. */
public final class LockService {
  private final ElectionQueue candidates;
  private final InProcessKvClient kv;

  LockService(ElectionQueue candidates) {
    this.candidates = candidates;
    this.kv = candidates.kv();
  }

  /** LK1, LK2, LK4: completes when the caller has the lock. */
  public CancellableCall<LockResponse> lock(LockRequest request, Call call) {
    CancellableCall<LockResponse> waiting =
        CancellableCall.atMost(call.timeout(), candidates.member().scheduler());
    candidates
        .lease(request.getLease(), call)
        .thenCompose(lease -> acquire(request.getName(), lease, call, waiting))
        .whenComplete(
            (locked, failure) -> {
              if (failure != null) {
                waiting.fail(failure);
              } else {
                waiting.succeed(locked);
              }
            });
    return waiting;
  }

  private CompletionStage<LockResponse> acquire(
      ByteString name, long lease, Call call, CancellableCall<?> waiting) {
    ByteString key = ElectionQueue.key(name, lease);
    RequestOp owner = RequestOp.newBuilder().setRequestRange(ElectionQueue.oldest(name)).build();
    TxnRequest.Builder create =
        TxnRequest.newBuilder()
            .addCompare(InProcessKvClient.createdAt(key, 0))
            .addSuccess(InProcessKvClient.put(key, ByteString.EMPTY, lease))
            .addSuccess(owner)
            .addFailure(InProcessKvClient.get(key))
            .addFailure(owner);
    return kv.txn(create, call)
        .thenCompose(response -> acquire(name, key, response, call, waiting));
  }

  private CompletionStage<LockResponse> acquire(
      ByteString name,
      ByteString key,
      TxnResponse response,
      Call call,
      CancellableCall<?> waiting) {
    long created =
        response.getSucceeded()
            ? response.getHeader().getRevision()
            : response.getResponses(0).getResponseRange().getKvs(0).getCreateRevision();
    RangeResponse oldest = response.getResponses(1).getResponseRange();
    boolean owned = oldest.getKvs(0).getCreateRevision() == created;
    // LK4. If the client disconnected before this, an existing key stays: its lease may own the
    // lock.
    if (response.getSucceeded() || !(owned || waiting.isCancelled())) {
      waiting.whenCancelled(() -> candidates.remove(key, created, call));
    }
    if (owned) {
      return CompletableFuture.completedFuture(response(response.getHeader(), key));
    }
    return candidates
        .turn(name, created, call, waiting)
        .whenComplete(
            (reached, failure) -> {
              if (failure != null) {
                candidates.remove(key, created, call);
              }
            })
        .thenCompose(reached -> kv.range(RangeRequest.newBuilder().setKey(key), call))
        .thenApply(
            own -> {
              // LK1: the lease may have expired during the wait.
              if (own.getKvsCount() == 0) {
                throw new GrpcException(GrpcStatus.UNKNOWN, "mutex: session is expired");
              }
              return response(own.getHeader(), key);
            });
  }

  private static LockResponse response(ResponseHeader header, ByteString key) {
    return LockResponse.newBuilder().setHeader(header).setKey(key).build();
  }

  /** LK3. */
  public CompletionStage<UnlockResponse> unlock(UnlockRequest request, Call call) {
    TxnRequest.Builder removal =
        TxnRequest.newBuilder().addSuccess(InProcessKvClient.delete(request.getKey()));
    return kv.txn(removal, call)
        .thenApply(response -> UnlockResponse.newBuilder().setHeader(response.getHeader()).build());
  }
}
