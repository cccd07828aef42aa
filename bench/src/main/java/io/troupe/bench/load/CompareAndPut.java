package io.troupe.bench.load;

import com.google.protobuf.InvalidProtocolBufferException;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import java.util.SplittableRandom;

/**
 * Transactions that put a key if its mod revision is the one last seen, otherwise read it. Each
 * client has its own keys, so a failed compare is an error.
 */
final class CompareAndPut implements Workload {
  private final Keyspace keyspace;
  private final long[] modRevisions;
  private final int client;
  private final int clients;
  private final SplittableRandom random;
  private int current;

  /**
   * @param modRevisions of every key, shared; this client reads and writes those of its own keys
   * @param client number of this client; its keys are {@code client}, {@code client + clients}, ...
   */
  CompareAndPut(
      Keyspace keyspace, long[] modRevisions, int client, int clients, SplittableRandom random) {
    this.keyspace = keyspace;
    this.modRevisions = modRevisions;
    this.client = client;
    this.clients = clients;
    this.random = random;
  }

  @Override
  public byte[] next() {
    int own = Math.max(1, (keyspace.size() - client + clients - 1) / clients);
    current = client + clients * random.nextInt(own);
    var key = keyspace.key(current);
    return TxnRequest.newBuilder()
        .addCompare(
            Compare.newBuilder()
                .setResult(Compare.CompareResult.EQUAL)
                .setTarget(Compare.CompareTarget.MOD)
                .setKey(key)
                .setModRevision(modRevisions[current]))
        .addSuccess(
            RequestOp.newBuilder()
                .setRequestPut(
                    PutRequest.newBuilder().setKey(key).setValue(keyspace.value(current))))
        .addFailure(RequestOp.newBuilder().setRequestRange(RangeRequest.newBuilder().setKey(key)))
        .build()
        .toByteArray();
  }

  @Override
  public EtcdMethod method() {
    return EtcdMethod.TXN_KEEP;
  }

  @Override
  public boolean accept(Reply reply) {
    try {
      TxnResponse response = TxnResponse.parseFrom(reply.body());
      modRevisions[current] = response.getHeader().getRevision();
      return response.getSucceeded();
    } catch (InvalidProtocolBufferException e) {
      return false;
    }
  }
}
