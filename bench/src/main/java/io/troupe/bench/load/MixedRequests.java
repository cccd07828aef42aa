package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import java.util.SplittableRandom;

/** Draws each request from one of two workloads. */
final class MixedRequests implements Workload {
  private final Workload often;
  private final Workload seldom;
  private final int seldomPercent;
  private final SplittableRandom random;
  private Workload current;

  MixedRequests(Workload often, Workload seldom, int seldomPercent, SplittableRandom random) {
    this.often = often;
    this.seldom = seldom;
    this.seldomPercent = seldomPercent;
    this.random = random;
    this.current = often;
  }

  @Override
  public byte[] next() {
    current = random.nextInt(100) < seldomPercent ? seldom : often;
    byte[] request = current.next();
    if (request == null) {
      throw new IllegalStateException("a mixed workload must not end");
    }
    return request;
  }

  @Override
  public EtcdMethod method() {
    return current.method();
  }

  @Override
  public boolean accept(Reply reply) {
    return current.accept(reply);
  }
}
