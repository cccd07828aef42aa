package io.troupe.grpc.service;

import com.google.protobuf.ByteString;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import io.troupe.grpc.error.GrpcErrors;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The key-value service as services of this process use it: with the caller's rights, in messages,
 * and with refusals that are UNKNOWN but keep their text (E8). Thread-safe.
 */
final class InProcessKvClient {
  private final KvService kv;

  InProcessKvClient(KvService kv) {
    this.kv = kv;
  }

  /** A call of its own: what it reads is one record at a time. */
  private static Call own(Call call) {
    return call.withMemory(MemoryBudget.UNLIMITED.share());
  }

  CompletionStage<TxnResponse> txn(TxnRequest.Builder request, Call call) {
    return translated(() -> kv.txn(Bytes.wrap(request.build().toByteArray()), own(call)));
  }

  CompletionStage<RangeResponse> range(RangeRequest.Builder request, Call call) {
    return translated(() -> kv.range(Bytes.wrap(request.build().toByteArray()), own(call)));
  }

  /** A request that may refuse at once. */
  interface Request<T> {
    CompletionStage<T> send() throws IOException;
  }

  /** Sends a request; however it fails, the failure is in the stage and is one of E8. */
  static <T> CompletionStage<T> translated(Request<T> request) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    CompletionStage<T> sent;
    try {
      sent = request.send();
    } catch (IOException | RuntimeException refused) {
      answer.completeExceptionally(inner(refused));
      return answer;
    }
    sent.whenComplete(
        (result, failure) -> {
          if (failure == null) {
            answer.complete(result);
          } else {
            answer.completeExceptionally(inner(failure));
          }
        });
    return answer;
  }

  /** E8: the text stays, the code is lost, but for those of a context. */
  static GrpcException inner(Throwable failure) {
    GrpcStatus status = GrpcErrors.of(failure);
    boolean context =
        status.code() == GrpcStatus.CANCELED || status.code() == GrpcStatus.DEADLINE_EXCEEDED;
    return new GrpcException(context ? status.code() : GrpcStatus.UNKNOWN, status.message());
  }

  /** True while {@code key} is the one that was created at {@code revision}; 0: it is not there. */
  static Compare createdAt(ByteString key, long revision) {
    return Compare.newBuilder()
        .setKey(key)
        .setTarget(Compare.CompareTarget.CREATE)
        .setResult(Compare.CompareResult.EQUAL)
        .setCreateRevision(revision)
        .build();
  }

  static RequestOp put(ByteString key, ByteString value, long lease) {
    return RequestOp.newBuilder()
        .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease))
        .build();
  }

  static RequestOp get(ByteString key) {
    return RequestOp.newBuilder().setRequestRange(RangeRequest.newBuilder().setKey(key)).build();
  }

  static RequestOp delete(ByteString key) {
    return RequestOp.newBuilder()
        .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
        .build();
  }
}
