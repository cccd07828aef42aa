package io.troupe.actors.watch;

import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.protocol.SharedEvent;
import io.troupe.protocol.WatchReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Replies that a stream has not sent yet, and their size. They are passed to the client's
 * connection in one piece whenever it can take more, and count until it can take more again.
 */
final class StreamQueue {
  /** Maximum size of a record besides its key and value. */
  private static final int RECORD_OVERHEAD = 64;

  /**
   * The budget of all clients is updated in steps of this size, so that fast streams never update
   * it.
   */
  private static final long STEP = 16 << 10;

  private final MemoryBudget.Share memory;
  private List<WatchReply> replies = new ArrayList<>();
  private long bytes;
  private int events;
  private int controls;

  /** Bytes that were passed on last, as far as they are counted. */
  private long handedBytes;

  private long watcherBytes;
  private long countedBytes;
  private @Nullable CompletableFuture<List<WatchReply>> taker;

  /**
   * Starts empty.
   *
   * @param memory counts the memory that the stream occupies in this process
   */
  StreamQueue(MemoryBudget.Share memory) {
    this.memory = memory;
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
    if (Math.abs(now - countedBytes) >= STEP || (now == 0 && countedBytes > 0)) {
      countedBytes = now;
      memory.shrinkTo(now);
    }
  }

  /** Returns true if no reply waits. */
  boolean isEmpty() {
    return replies.isEmpty();
  }

  /** Bytes of the waiting replies, as a close upper bound. */
  long bytes() {
    return bytes;
  }

  /** Number of waiting events. */
  int events() {
    return events;
  }

  void add(WatchReply reply) {
    replies.add(reply);
    if (reply instanceof WatchReply.Events more) {
      events += more.events().size();
    } else {
      controls++;
    }
    bytes += size(reply);
    count();
  }

  /** The client's connection can take more. */
  void taker(CompletableFuture<List<WatchReply>> next) {
    taker = next;
    hand(0);
    count();
  }

  /** Few bytes are not counted, so that fast streams never update the budget. */
  private void hand(long now) {
    long counted = now >= STEP ? now : 0;
    if (counted != handedBytes) {
      handedBytes = counted;
      memory.hand(counted);
    }
  }

  /**
   * True if replies wait only because clients exceed their memory budget and the connection does
   * not send what it has.
   */
  boolean isHeldBack() {
    return taker != null && bytes >= STEP && memory.isHeldBack();
  }

  /** Passes the waiting replies on if the connection can take them. Returns true if it did. */
  boolean flush() {
    CompletableFuture<List<WatchReply>> next = taker;
    if (next == null || replies.isEmpty() || isHeldBack()) {
      return false;
    }
    List<WatchReply> out = replies;
    taker = null;
    replies = new ArrayList<>();
    hand(bytes);
    bytes = 0;
    events = 0;
    controls = 0;
    next.complete(out);
    return true;
  }

  /** Fails the waiting connection: no more replies follow. */
  void fail(Throwable why) {
    if (taker != null) {
      taker.completeExceptionally(why);
    }
  }

  private static long size(WatchReply reply) {
    long size = RECORD_OVERHEAD;
    if (reply instanceof WatchReply.Events events) {
      for (SharedEvent event : events.events()) {
        size += size(event.event(), events.prevKv());
      }
    }
    return size;
  }

  /** Upper bound of an event's encoded size. */
  static long size(Event event, boolean prevKv) {
    KeyValue prev = prevKv ? event.prev() : null;
    return size(event.kv()) + (prev == null ? 0 : size(prev));
  }

  private static long size(KeyValue kv) {
    return RECORD_OVERHEAD + kv.key().length() + (long) kv.value().length();
  }
}
