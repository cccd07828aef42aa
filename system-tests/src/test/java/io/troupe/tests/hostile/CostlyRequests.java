package io.troupe.tests.hostile;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.ElectionGrpc;
import io.etcd.jetcd.api.HashKVRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaderRequest;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;

/** Attacks with valid requests that cause as much work as a request can. */
final class CostlyRequests {
  /** Each of the requests must have its response or refusal within this time. */
  private static final long PATIENCE_SECONDS = 300;

  private static final int KEYS_IN_TXN = 100;

  private static final String TOO_MANY_REQUESTS = "etcdserver: too many requests";

  private CostlyRequests() {}

  private interface Calls {
    void on(ManagedChannel channel);
  }

  /** Sends the same request several times concurrently, and waits for each outcome. */
  private static Attack atOnce(int times, Calls calls) {
    return target -> {
      ManagedChannel channel = target.channel();
      ExecutorService threads = Executors.newFixedThreadPool(times);
      try {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < times; i++) {
          all.add(CompletableFuture.runAsync(() -> refusable(channel, calls), threads));
        }
        outcome(all);
      } finally {
        channel.shutdownNow();
        threads.shutdown();
      }
      return Attack.Held.NOTHING;
    };
  }

  private static void refusable(ManagedChannel channel, Calls calls) {
    try {
      calls.on(channel);
    } catch (StatusRuntimeException refused) {
      System.out.println("attacker: " + refused.getStatus());
    }
  }

  private static void outcome(List<CompletableFuture<Void>> all)
      throws InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  private static ByteString key(String prefix, int i) {
    return ByteString.copyFromUtf8(String.format("%s%08d", prefix, i));
  }

  /** Puts keys, many in each request. A put that the member refuses is repeated. */
  private static void fill(ManagedChannel channel, String prefix, int keys, int bytes) {
    ByteString value = ByteString.copyFrom(new byte[bytes]);
    int each = Math.min(KEYS_IN_TXN, Math.max(1, (1 << 20) / (bytes + 1)));
    for (int i = 0; i < keys; i += each) {
      TxnRequest.Builder txn = TxnRequest.newBuilder();
      for (int k = i; k < Math.min(keys, i + each); k++) {
        PutRequest.Builder put = PutRequest.newBuilder().setKey(key(prefix, k)).setValue(value);
        txn.addSuccess(RequestOp.newBuilder().setRequestPut(put));
      }
      put(channel, txn.build());
    }
  }

  /**
   * Repeats a put while the member refuses it: the member may still free the memory of the attack
   * before.
   */
  private static void put(ManagedChannel channel, TxnRequest txn) {
    Awaitility.await("a put that the member accepts")
        .atMost(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .pollInterval(Duration.ofMillis(100))
        .pollDelay(Duration.ZERO)
        .until(() -> isAccepted(channel, txn));
  }

  private static boolean isAccepted(ManagedChannel channel, TxnRequest txn) {
    try {
      KVGrpc.newBlockingStub(channel).txn(txn);
      return true;
    } catch (StatusRuntimeException refused) {
      if (!TOO_MANY_REQUESTS.equals(refused.getStatus().getDescription())) {
        throw refused;
      }
      System.out.println("attacker: " + refused.getStatus());
      return false;
    }
  }

  /** One deletion of many keys, which are put first. */
  static Attack largeDeletion(String prefix, int keys, int bytes) {
    return target -> {
      ManagedChannel channel = target.channel();
      try {
        fill(channel, prefix, keys, bytes);
        refusable(
            channel,
            to ->
                KVGrpc.newBlockingStub(to)
                    .deleteRange(
                        DeleteRangeRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8(prefix))
                            .setRangeEnd(ByteString.copyFromUtf8(prefix + "~"))
                            .build()));
      } finally {
        channel.shutdownNow();
      }
      return Attack.Held.NOTHING;
    };
  }

  /**
   * Nested transactions with ranges of the keys from "l" to "m" at the innermost level.
   *
   * @param sizes operations of each level, from the outermost
   * @param put whether the outermost one writes
   */
  static Attack nestedRanges(List<Integer> sizes, boolean put) {
    RangeRequest.Builder range =
        RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("l"))
            .setRangeEnd(ByteString.copyFromUtf8("m"));
    RequestOp inner = RequestOp.newBuilder().setRequestRange(range).build();
    TxnRequest txn = TxnRequest.getDefaultInstance();
    for (int level = sizes.size() - 1; level >= 0; level--) {
      TxnRequest.Builder next = TxnRequest.newBuilder();
      for (int i = 0; i < sizes.get(level); i++) {
        next.addSuccess(inner);
      }
      if (level == 0 && put) {
        next.addSuccess(
            RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("put"))));
      }
      txn = next.build();
      inner = RequestOp.newBuilder().setRequestTxn(txn).build();
    }
    TxnRequest request = txn;
    return atOnce(1, channel -> KVGrpc.newBlockingStub(channel).txn(request));
  }

  /** Elections without a name; their prefix covers all keys. */
  static Attack leadersOfAllKeys(int calls) {
    return atOnce(
        calls,
        channel ->
            ElectionGrpc.newBlockingStub(channel).leader(LeaderRequest.getDefaultInstance()));
  }

  /** Hashes of the whole history. */
  static Attack hashes(int calls) {
    return atOnce(
        calls,
        channel ->
            MaintenanceGrpc.newBlockingStub(channel).hashKV(HashKVRequest.getDefaultInstance()));
  }
}
