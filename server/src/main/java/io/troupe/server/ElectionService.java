package io.troupe.server;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.api.election.CampaignRequest;
import io.troupe.grpc.api.election.CampaignResponse;
import io.troupe.grpc.api.election.LeaderKey;
import io.troupe.grpc.api.election.LeaderRequest;
import io.troupe.grpc.api.election.LeaderResponse;
import io.troupe.grpc.api.election.ProclaimRequest;
import io.troupe.grpc.api.election.ProclaimResponse;
import io.troupe.grpc.api.election.ResignRequest;
import io.troupe.grpc.api.election.ResignResponse;
import io.troupe.grpc.api.mvcc.KeyValue;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** Section 2.17. All its state is in keys. */
public final class ElectionService {
  private static final String NOT_LEADER = "election: not leader";

  private final ElectionQueue candidates;
  private final InProcessKvClient kv;

  ElectionService(ElectionQueue candidates) {
    this.candidates = candidates;
    this.kv = candidates.kv();
  }

  /** E1 to E3: completes when the caller leads. */
  public CancellableCall<CampaignResponse> campaign(CampaignRequest request, Call call) {
    CancellableCall<CampaignResponse> waiting =
        CancellableCall.atMost(call.timeout(), candidates.member().scheduler());
    candidates
        .lease(request.getLease(), call)
        .thenCompose(lease -> enter(request, lease, call, waiting))
        .thenCompose(entry -> lead(entry, request, call, waiting))
        .whenComplete(
            (elected, failure) -> {
              if (failure != null) {
                waiting.fail(failure);
              } else {
                waiting.succeed(elected);
              }
            });
    return waiting;
  }

  /**
   * The caller as a candidate.
   *
   * @param response of the transaction that created its key, or found it
   */
  private record Entry(LeaderKey key, TxnResponse response) {}

  private CompletionStage<Entry> enter(
      CampaignRequest request, long lease, Call call, CancellableCall<?> waiting) {
    ByteString key = ElectionQueue.key(request.getName(), lease);
    TxnRequest.Builder create =
        TxnRequest.newBuilder()
            .addCompare(InProcessKvClient.createdAt(key, 0))
            .addSuccess(InProcessKvClient.put(key, request.getValue(), lease))
            .addFailure(InProcessKvClient.get(key));
    return kv.txn(create, call)
        .thenCompose(
            response -> {
              LeaderKey.Builder own =
                  LeaderKey.newBuilder().setName(request.getName()).setKey(key).setLease(lease);
              if (response.getSucceeded()) {
                long revision = response.getHeader().getRevision();
                // Also if the client disconnected before this: otherwise the key would stay.
                waiting.whenCancelled(() -> candidates.remove(key, revision, call));
                return CompletableFuture.completedFuture(
                    new Entry(own.setRev(revision).build(), response));
              }
              return again(request, own, response, call, waiting);
            });
  }

  /** E1: the lease already has a candidate; another value is proclaimed. */
  private CompletionStage<Entry> again(
      CampaignRequest request,
      LeaderKey.Builder own,
      TxnResponse response,
      Call call,
      CancellableCall<?> waiting) {
    KeyValue existing = response.getResponses(0).getResponseRange().getKvs(0);
    LeaderKey key = own.setRev(existing.getCreateRevision()).build();
    Entry entry = new Entry(key, response);
    // E3. If the client disconnected before this, the key of its other call is not removed.
    if (!waiting.isCancelled()) {
      waiting.whenCancelled(() -> candidates.remove(key.getKey(), key.getRev(), call));
    }
    if (existing.getValue().equals(request.getValue())) {
      return CompletableFuture.completedFuture(entry);
    }
    return put(key, request.getValue(), key.getLease(), call)
        .whenComplete(
            (put, failure) -> {
              if (failure != null) {
                candidates.remove(key.getKey(), key.getRev(), call);
              }
            })
        .thenApply(put -> entry);
  }

  private CompletionStage<CampaignResponse> lead(
      Entry entry, CampaignRequest request, Call call, CancellableCall<?> waiting) {
    return candidates
        .turn(request.getName(), entry.key().getRev(), call, waiting)
        .thenApply(
            reached ->
                CampaignResponse.newBuilder()
                    .setHeader(entry.response().getHeader())
                    .setLeader(entry.key())
                    .build());
  }

  /** E4. */
  public CompletionStage<ProclaimResponse> proclaim(ProclaimRequest request, Call call) {
    requireLeader(request.hasLeader());
    LeaderKey leader = request.getLeader();
    return candidates
        .lease(leader.getLease(), call)
        .thenCompose(lease -> put(leader, request.getValue(), lease, call))
        .thenApply(put -> ProclaimResponse.newBuilder().setHeader(put.getHeader()).build());
  }

  private CompletionStage<TxnResponse> put(
      LeaderKey leader, ByteString value, long lease, Call call) {
    TxnRequest.Builder put =
        TxnRequest.newBuilder()
            .addCompare(InProcessKvClient.createdAt(leader.getKey(), leader.getRev()))
            .addSuccess(InProcessKvClient.put(leader.getKey(), value, lease));
    return kv.txn(put, call)
        .thenApply(
            response -> {
              if (!response.getSucceeded()) {
                throw new GrpcException(GrpcStatus.UNKNOWN, NOT_LEADER);
              }
              return response;
            });
  }

  /** E5. */
  public CompletionStage<LeaderResponse> leader(LeaderRequest request, Call call) {
    return kv.range(ElectionQueue.oldest(request.getName()), call)
        .thenApply(
            found -> {
              if (found.getKvsCount() == 0) {
                throw new GrpcException(GrpcStatus.UNKNOWN, "election: no leader");
              }
              return LeaderResponse.newBuilder()
                  .setHeader(found.getHeader())
                  .setKv(found.getKvs(0))
                  .build();
            });
  }

  /** E6. */
  public ElectionObserver observe(LeaderRequest request, Call call) {
    return new ElectionObserver(candidates, request.getName(), call);
  }

  /** E7. */
  public CompletionStage<ResignResponse> resign(ResignRequest request, Call call) {
    requireLeader(request.hasLeader());
    LeaderKey leader = request.getLeader();
    TxnRequest.Builder removal =
        TxnRequest.newBuilder()
            .addCompare(InProcessKvClient.createdAt(leader.getKey(), leader.getRev()))
            .addSuccess(InProcessKvClient.delete(leader.getKey()));
    return kv.txn(removal, call)
        .thenApply(response -> ResignResponse.newBuilder().setHeader(response.getHeader()).build());
  }

  private static void requireLeader(boolean given) {
    if (!given) {
      throw new GrpcException(GrpcStatus.UNKNOWN, "\"leader\" field must be provided");
    }
  }
}
