package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Puts the keys in turn, repeatedly, a given number of times. Shared by several clients. */
final class FillKeys implements Workload {
  private final byte[][] puts;
  private final int total;
  private final AtomicInteger sent = new AtomicInteger();

  FillKeys(byte[][] puts, int total) {
    this.puts = puts;
    this.total = total;
  }

  @Override
  public byte @Nullable [] next() {
    int i = sent.getAndIncrement();
    return i < total ? puts[i % puts.length] : null;
  }

  @Override
  public EtcdMethod method() {
    return EtcdMethod.PUT;
  }

  @Override
  public boolean accept(Reply reply) {
    return reply.size() > 0;
  }
}
