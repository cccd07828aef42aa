package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import java.util.SplittableRandom;

/** Draws requests from a fixed set, with equal probability. */
final class RandomRequests implements Workload {
  private final EtcdMethod method;
  private final byte[][] requests;
  private final int leastReplyBytes;
  private final SplittableRandom random;

  /**
   * @param leastReplyBytes a shorter reply is wrong: it cannot hold the values asked for
   */
  RandomRequests(
      EtcdMethod method, byte[][] requests, int leastReplyBytes, SplittableRandom random) {
    this.method = method;
    this.requests = requests;
    this.leastReplyBytes = leastReplyBytes;
    this.random = random;
  }

  @Override
  public byte[] next() {
    return requests[random.nextInt(requests.length)];
  }

  @Override
  public EtcdMethod method() {
    return method;
  }

  @Override
  public boolean accept(Reply reply) {
    return reply.size() >= leastReplyBytes;
  }
}
