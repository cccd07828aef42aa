package io.troupe.actors.peers;

import io.troupe.protocol.PeerFrame;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;

/**
 * Messages that wait in Artery's queue for one connection to one member, by their bytes. Artery
 * reports a message that it encodes and none that it drops; since it keeps the order, a message
 * that is encoded proves that those before it left the queue.
 *
 * <p>Short messages always pass: they are few bytes, they are what a member is recognized by, and
 * they correct the count. Thread-safe.
 */
final class OutboundQueue {
  /** Longer messages need memory. */
  static final int SHORT_BYTES = 1024;

  /** As long as Artery's own queue, above which it drops. */
  private static final int MAX_MESSAGES = 3072;

  /** Of short messages; with more than that at least one long message waits. */
  private static final long SHORT_MESSAGES_BYTES = 192 << 10;

  private record QueuedFrame(long number, long bytes) {}

  private final PeerMemory.Part memory;
  private final Queue<QueuedFrame> waiting = new ArrayDeque<>();
  private long bytes;
  private long enteredNanos = System.nanoTime();
  private long last;

  OutboundQueue(PeerMemory.Part memory) {
    this.memory = memory;
  }

  /** A message in flight to Artery's encoder. */
  static final class Outgoing {
    private final OutboundQueue queue;
    private final PeerFrame frame;
    private final long number;

    private Outgoing(OutboundQueue queue, PeerFrame frame, long number) {
      this.queue = queue;
      this.frame = frame;
      this.number = number;
    }

    PeerFrame frame() {
      return frame;
    }

    /** Artery has taken it from its queue. */
    void encoded() {
      queue.left(number);
    }
  }

  /**
   * Whether a message may be sent. One is let through even if no memory is left, so that each
   * member makes progress whatever the others keep waiting.
   *
   * @param messageBytes of the whole message
   */
  synchronized boolean admits(long messageBytes) {
    if (messageBytes <= SHORT_BYTES || bytes <= SHORT_MESSAGES_BYTES) {
      return true;
    }
    boolean fits = memory.tryTake(messageBytes);
    if (fits) {
      memory.change(-messageBytes);
    } else {
      memory.refused();
    }
    return fits;
  }

  /** To be sent now; in the order of the calls. */
  synchronized Outgoing enter(PeerFrame frame, long frameBytes) {
    last++;
    enteredNanos = System.nanoTime();
    if (waiting.size() < MAX_MESSAGES) {
      waiting.add(new QueuedFrame(last, frameBytes));
      change(frameBytes);
    }
    return new Outgoing(this, frame, last);
  }

  private synchronized void left(long number) {
    for (QueuedFrame first = waiting.peek();
        first != null && first.number() <= number;
        first = waiting.peek()) {
      waiting.remove();
      change(-first.bytes());
    }
  }

  /** Artery has dropped what it had for a member to which nothing was sent for so long. */
  synchronized void forgetUnused(long nowNanos, Duration unused) {
    if (nowNanos - enteredNanos >= unused.toNanos()) {
      left(last);
    }
  }

  /** Bytes that wait, as far as is known. */
  synchronized long bytes() {
    return bytes;
  }

  private void change(long by) {
    bytes += by;
    memory.change(by);
  }
}
