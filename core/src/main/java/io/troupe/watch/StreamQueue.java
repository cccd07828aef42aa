package io.troupe.watch;

import io.troupe.model.MemoryBudget;
import io.troupe.model.SharedEvents;

/**
 * Counts the replies that a stream has not sent yet. They are passed to the client's connection in
 * one piece whenever it can take more, and count until it can take more again.
 */
final class StreamQueue {
  /** Maximum size of a reply besides its events. */
  private static final int REPLY_BYTES = 64;

  private final MemoryBudget.Share memory;
  private final long stepBytes;
  private int replies;
  private long bytes;
  private int events;
  private int controls;

  /** Bytes that were passed on last, as far as they are counted. */
  private long handedBytes;

  private long reservedBytes;
  private long watcherBytes;
  private long countedBytes;
  private boolean ready;

  /**
   * Starts empty.
   *
   * @param memory counts the memory that the stream occupies in this process
   * @param stepBytes {@link WatchStreamCore.Settings#stepBytes}
   */
  StreamQueue(MemoryBudget.Share memory, long stepBytes) {
    this.memory = memory;
    this.stepBytes = stepBytes;
  }

  /**
   * Returns true if replies wait while clients exceed their memory budget: they must be sent before
   * more are added.
   */
  boolean isShort() {
    return bytes > 0 && isRefused();
  }

  /** Returns true if clients exceed their memory budget and this stream is not a small one. */
  boolean isRefused() {
    return memory.isExceeded();
  }

  /**
   * Reserves the memory of a read of history. One read at a time.
   *
   * @return false if clients exceed their memory budget
   */
  boolean reserve(HistoryReadSize size) {
    reservedBytes = memory.reserve(size.bytes());
    return reservedBytes > 0;
  }

  /** The read ended. Its events count as waiting replies from here on. */
  void release() {
    memory.release(reservedBytes);
    reservedBytes = 0;
  }

  /** Waiting replies that are not events; each request of the client makes one. */
  int controls() {
    return controls;
  }

  /** Sets the memory of the stream's watchers. */
  void watchers(long weight) {
    watcherBytes = weight;
    count();
  }

  private void count() {
    long now = bytes + watcherBytes;
    if (Math.abs(now - countedBytes) >= stepBytes || (now == 0 && countedBytes > 0)) {
      countedBytes = now;
      memory.shrinkTo(now);
    }
  }

  /** Returns true if no reply waits. */
  boolean isEmpty() {
    return replies == 0;
  }

  /** Bytes of the waiting replies, as a close upper bound. */
  long bytes() {
    return bytes;
  }

  /** Number of waiting events. */
  int events() {
    return events;
  }

  /** A reply without events waits. */
  void addControl() {
    controls++;
    add(REPLY_BYTES);
  }

  /** A reply with events waits. */
  void addEvents(SharedEvents more, boolean prevKv) {
    events += more.size();
    add(REPLY_BYTES + more.maxBytes(prevKv));
  }

  private void add(long size) {
    replies++;
    bytes += size;
    count();
  }

  /** The client's connection can take more. */
  void ready() {
    ready = true;
    hand(0);
    count();
  }

  /** Few bytes are not counted, so that fast streams never update the budget. */
  private void hand(long now) {
    long counted = now >= stepBytes ? now : 0;
    if (counted != handedBytes) {
      handedBytes = counted;
      memory.hand(counted);
    }
  }

  /**
   * Returns true if replies wait only because responses in transit use up the memory of clients and
   * the connection does not send what it has.
   */
  boolean isHeldBack() {
    return ready && bytes >= stepBytes && memory.isHeldBack();
  }

  /** Returns true if the connection takes the waiting replies now. */
  boolean take() {
    if (!ready || replies == 0 || isHeldBack()) {
      return false;
    }
    ready = false;
    replies = 0;
    hand(bytes);
    bytes = 0;
    events = 0;
    controls = 0;
    return true;
  }
}
