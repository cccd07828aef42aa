package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Sends requests 0, 1, ... up to a given number. Shared by several clients. */
final class FillKeys implements Workload {
  private static final int MAX_PUTS = 100;
  private static final int MAX_BYTES = 1 << 20;

  private final EtcdMethod method;
  private final IntFunction<byte[]> requests;
  private final int total;
  private final AtomicInteger sent = new AtomicInteger();

  /**
   * @param requests encodes the request of a number from 0 to {@code total} - 1; called from any
   *     thread
   */
  FillKeys(EtcdMethod method, int total, IntFunction<byte[]> requests) {
    this.method = method;
    this.requests = requests;
    this.total = total;
  }

  /**
   * Grants leases with the ids {@code first}, {@code first} + 1, ...
   *
   * @param ttl in seconds
   */
  static FillKeys leases(long first, int total, long ttl) {
    return new FillKeys(
        EtcdMethod.LEASE_GRANT,
        total,
        i -> LeaseGrantRequest.newBuilder().setID(first + i).setTTL(ttl).build().toByteArray());
  }

  /** Puts the keys of a keyspace in turn, repeatedly, {@code total} times. */
  static FillKeys singly(Keyspace keyspace, int total) {
    IntFunction<byte[]> puts = keyspace.puts();
    return new FillKeys(EtcdMethod.PUT, total, i -> puts.apply(i % keyspace.size()));
  }

  /** Puts each key of a keyspace once, in transactions. */
  static FillKeys batched(Keyspace keyspace) {
    return batched(0, keyspace.size(), keyspace::key, keyspace::value, keyspace.valueBytes());
  }

  /**
   * Puts the keys {@code from} to {@code until} - 1 once, in transactions of at most 100 puts and
   * about 1 MiB.
   */
  static FillKeys batched(
      int from,
      int until,
      IntFunction<ByteString> keys,
      IntFunction<ByteString> values,
      int valueBytes) {
    int batch = batch(valueBytes);
    int total = (until - from + batch - 1) / batch;
    return new FillKeys(
        EtcdMethod.TXN,
        total,
        n -> {
          TxnRequest.Builder txn = TxnRequest.newBuilder();
          int end = Math.min(until, from + (n + 1) * batch);
          for (int i = from + n * batch; i < end; i++) {
            txn.addSuccess(
                RequestOp.newBuilder()
                    .setRequestPut(
                        PutRequest.newBuilder().setKey(keys.apply(i)).setValue(values.apply(i))));
          }
          return txn.build().toByteArray();
        });
  }

  /** Puts of each transaction but the last. */
  static int batch(int valueBytes) {
    return Math.max(1, Math.min(MAX_PUTS, MAX_BYTES / (valueBytes + 100)));
  }

  @Override
  public byte @Nullable [] next() {
    int i = sent.getAndIncrement();
    return i < total ? requests.apply(i) : null;
  }

  @Override
  public EtcdMethod method() {
    return method;
  }

  @Override
  public boolean accept(Reply reply) {
    return reply.size() > 0;
  }
}
