package io.troupe.bench.load;

import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import java.util.SplittableRandom;
import java.util.function.IntFunction;

/** Draws requests from a fixed set, with equal probability. */
final class RandomRequests implements Workload {
  private final EtcdMethod method;
  private final int count;
  private final IntFunction<byte[]> requests;
  private final int leastReplyBytes;
  private final SplittableRandom random;

  /**
   * @param requests encodes the requests 0 to {@code count} - 1
   * @param leastReplyBytes a shorter reply is wrong: it cannot hold the values asked for
   */
  RandomRequests(
      EtcdMethod method,
      int count,
      IntFunction<byte[]> requests,
      int leastReplyBytes,
      SplittableRandom random) {
    this.method = method;
    this.count = count;
    this.requests = requests;
    this.leastReplyBytes = leastReplyBytes;
    this.random = random;
  }

  @Override
  public byte[] next() {
    return requests.apply(random.nextInt(count));
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
