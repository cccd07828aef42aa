package io.troupe.server;

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
 * The key-value service for other services of this process: with the caller's rights, with
 * messages, and with refusals that are UNKNOWN but keep their text (E8). Thread-safe.
 */
final class InProcessKvClient {
  private final KvService kv;

  InProcessKvClient(KvService kv) {
    this.kv = kv;
  }

  /** A call without a memory limit, because it reads one record at a time. */
  private static Call own(Call call) {
    return call.withMemory(MemoryBudget.UNLIMITED.share());
  }

  CompletionStage<TxnResponse> txn(TxnRequest.Builder request, Call call) {
    return translated(() -> kv.txn(Bytes.wrap(request.build().toByteArray()), own(call)));
  }

  CompletionStage<RangeResponse> range(RangeRequest.Builder request, Call call) {
    return translated(() -> kv.range(Bytes.wrap(request.build().toByteArray()), own(call)));
  }

  /** A request that may also throw its refusal. */
  interface Request<T> {
    CompletionStage<T> send() throws IOException;
  }

  /** Sends a request; each failure completes the stage and is an error of E8. */
  static <T> CompletionStage<T> translated(Request<T> request) {
    CompletableFuture<T> outcome = new CompletableFuture<>();
    CompletionStage<T> sent;
    try {
      sent = request.send();
    } catch (IOException | RuntimeException refused) {
      outcome.completeExceptionally(inner(refused));
      return outcome;
    }
    sent.whenComplete(
        (result, failure) -> {
          if (failure == null) {
            outcome.complete(result);
          } else {
            outcome.completeExceptionally(inner(failure));
          }
        });
    return outcome;
  }

  /** E8: keeps the text; the code becomes UNKNOWN, except for CANCELED and DEADLINE_EXCEEDED. */
  static GrpcException inner(Throwable failure) {
    GrpcStatus status = GrpcErrors.of(failure);
    boolean context =
        status.code() == GrpcStatus.CANCELED || status.code() == GrpcStatus.DEADLINE_EXCEEDED;
    return new GrpcException(context ? status.code() : GrpcStatus.UNKNOWN, status.message());
  }

  /** True while {@code key} has the create revision {@code revision}; 0: the key does not exist. */
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
