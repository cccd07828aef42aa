package io.troupe.protocol;

import io.troupe.model.NodeId;
import io.troupe.model.RequestId;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ids that are unique over members and restarts (ID5): two bytes of the member, five of the start
 * time, and a counting byte (with carry).
 */
public final class RequestIds {
  private final long prefix;
  private final AtomicLong next;

  /**
   * Starts a sequence.
   *
   * @param startMs wall clock at start; a restart within one millisecond must not happen
   */
  public RequestIds(NodeId member, long startMs) {
    this.prefix = (member.value() & 0xffff) << 48;
    this.next = new AtomicLong((startMs & 0xff_ffff_ffffL) << 8);
  }

  /** The next id, never 0. */
  public RequestId next() {
    return new RequestId(prefix | (next.incrementAndGet() & 0xffff_ffff_ffffL));
  }

  /** A lease id: positive. */
  public long nextLease() {
    return next().value() & Long.MAX_VALUE;
  }
}
