package io.troupe.raft;

import io.troupe.model.Invariant;

/** The messages with entries in flight to one follower: a window of messages and of bytes. */
final class Inflight {
  private final long[] lastIndexes;
  private final long[] sizes;
  private final long maxBytes;
  private int head;
  private int count;
  private long bytes;

  /**
   * Creates an empty window.
   *
   * @param maxMessages 1 or more
   * @param maxBytes 1 or more; the last message may exceed it
   */
  Inflight(int maxMessages, long maxBytes) {
    this.lastIndexes = new long[maxMessages];
    this.sizes = new long[maxMessages];
    this.maxBytes = maxBytes;
  }

  boolean isFull() {
    return count == lastIndexes.length || bytes >= maxBytes;
  }

  long bytes() {
    return bytes;
  }

  boolean isEmpty() {
    return count == 0;
  }

  void add(long lastIndex, long size) {
    Invariant.require(!isFull(), "window overrun", count, bytes);
    int slot = (head + count) % lastIndexes.length;
    lastIndexes[slot] = lastIndex;
    sizes[slot] = size;
    count++;
    bytes += size;
  }

  /** The follower has everything up to {@code index}. */
  void freeTo(long index) {
    while (count > 0 && lastIndexes[head] <= index) {
      freeFirst();
    }
  }

  /** The oldest message counts as lost. */
  void freeFirst() {
    if (count > 0) {
      bytes -= sizes[head];
      head = (head + 1) % lastIndexes.length;
      count--;
    }
  }

  void clear() {
    count = 0;
    bytes = 0;
  }
}
