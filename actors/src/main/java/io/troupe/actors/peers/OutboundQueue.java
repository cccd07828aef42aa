package io.troupe.actors.peers;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Messages that wait for the connection to one member, bounded in number and, with those for all
 * other members, in bytes. Thread-safe.
 *
 * <p>Short messages need no memory of the shared part: they are few bytes, and a member is
 * recognized by them.
 */
final class OutboundQueue {
  /** Longer messages need memory of the shared part. */
  static final int SHORT_BYTES = 1024;

  /** A member has this much even if the queues of other members fill the memory. */
  private static final long FREE_BYTES = 192 << 10;

  /** Messages that are taken together, so that a long queue does not wait for one flush. */
  private static final int BATCH = 256;

  private static final long BATCH_BYTES = 1 << 20;

  /**
   * A message.
   *
   * @param kind kind of its frame
   * @param bytes upper bound of its size
   * @param encoder encodes it, on the thread that writes
   */
  record Outgoing(byte kind, long bytes, Supplier<byte[]> encoder) {}

  private final PeerMemory.Part memory;
  private final int maxMessages;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition arrived = lock.newCondition();
  private final Queue<Outgoing> waiting = new ArrayDeque<>();
  private long bytes;
  private boolean closed;
  private boolean woken;

  OutboundQueue(PeerMemory.Part memory, int maxMessages) {
    this.memory = memory;
    this.maxMessages = maxMessages;
  }

  /** Adds a message; false if it does not fit, or the queue is closed. */
  boolean offer(Outgoing message) {
    lock.lock();
    try {
      if (closed || waiting.size() >= maxMessages || !takeMemory(message.bytes())) {
        return false;
      }
      bytes += message.bytes();
      waiting.add(message);
      arrived.signal();
      return true;
    } finally {
      lock.unlock();
    }
  }

  private boolean takeMemory(long size) {
    if (size <= SHORT_BYTES || bytes <= FREE_BYTES) {
      memory.change(size);
      return true;
    }
    boolean fits = memory.tryTake(size);
    if (!fits) {
      memory.refused();
    }
    return fits;
  }

  /** Removes some messages, in order. Their memory stays taken until {@link #done}. */
  List<Outgoing> take() {
    lock.lock();
    try {
      List<Outgoing> taken = new ArrayList<>();
      long size = 0;
      while (!waiting.isEmpty() && taken.size() < BATCH && size < BATCH_BYTES) {
        Outgoing next = waiting.remove();
        size += next.bytes();
        taken.add(next);
      }
      return taken;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the memory of a message that {@link #take} removed. */
  void done(Outgoing message) {
    lock.lock();
    try {
      bytes -= message.bytes();
      memory.change(-message.bytes());
    } finally {
      lock.unlock();
    }
  }

  /** Drops all messages; returns their number. */
  int clear() {
    lock.lock();
    try {
      int dropped = waiting.size();
      for (Outgoing each : waiting) {
        bytes -= each.bytes();
        memory.change(-each.bytes());
      }
      waiting.clear();
      return dropped;
    } finally {
      lock.unlock();
    }
  }

  /** Refuses messages from now on; those that wait can still be taken. */
  void close() {
    lock.lock();
    try {
      closed = true;
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Ends the wait of {@link #awaitMessage}, this one or the next. */
  void wake() {
    lock.lock();
    try {
      woken = true;
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for a message or for {@link #wake}, at most that time, or until the queue is closed. */
  void awaitMessage(long timeoutNanos) throws InterruptedException {
    lock.lock();
    try {
      long left = timeoutNanos;
      while (waiting.isEmpty() && !woken && !closed && left > 0) {
        left = arrived.awaitNanos(left);
      }
      woken = false;
    } finally {
      lock.unlock();
    }
  }

  /** Waits that time, or until the queue is closed. */
  void pause(long nanos) throws InterruptedException {
    lock.lock();
    try {
      long left = nanos;
      while (!closed && left > 0) {
        left = arrived.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  boolean isClosed() {
    lock.lock();
    try {
      return closed;
    } finally {
      lock.unlock();
    }
  }

  /** True if no message waits and the queue is not closed. */
  boolean isIdle() {
    lock.lock();
    try {
      return waiting.isEmpty() && !closed;
    } finally {
      lock.unlock();
    }
  }

  boolean isEmpty() {
    lock.lock();
    try {
      return waiting.isEmpty();
    } finally {
      lock.unlock();
    }
  }

  /** Bytes of the messages that wait or are being written. */
  long bytes() {
    lock.lock();
    try {
      return bytes;
    } finally {
      lock.unlock();
    }
  }
}
