package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Sends requests 0, 1, ... up to a given number. Shared by several clients. */
final class FillKeys implements Workload {
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

  /** Puts the keys of a keyspace in turn, repeatedly, {@code total} times. */
  static FillKeys of(byte[][] puts, int total) {
    return new FillKeys(EtcdMethod.PUT, total, i -> puts[i % puts.length]);
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
