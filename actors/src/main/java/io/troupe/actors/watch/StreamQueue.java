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
 * Replies that a stream has not sent yet, and their weight. Handed out in one piece whenever the
 * client can take more; what was handed out counts until the client can take more again.
 */
final class StreamQueue {
  /** What a record weighs besides its key and value, at most. */
  private static final int RECORD_OVERHEAD = 64;

  /** The budget of all clients is touched in steps of this: quick streams never touch it. */
  private static final long STEP = 16 << 10;

  private final MemoryBudget.Share memory;
  private List<WatchReply> replies = new ArrayList<>();
  private long bytes;
  private int events;
  private int controls;

  /** Handed out and not known to be sent. */
  private long handedBytes;

  private long watcherBytes;
  private long countedBytes;
  private @Nullable CompletableFuture<List<WatchReply>> taker;

  /**
   * Nothing waits.
   *
   * @param memory counts what the stream makes this process hold
   */
  StreamQueue(MemoryBudget.Share memory) {
    this.memory = memory;
  }

  /**
   * True if something waits while clients hold more than they may: it has to be sent before more
   * may come.
   */
  boolean isShort() {
    return bytes > 0 && isRefused();
  }

  /** True if clients hold more than they may, and this one is no small one. */
  boolean isRefused() {
    return memory.isExceeded();
  }

  /** Replies that wait and are no events: each request of the client makes one. */
  int controls() {
    return controls;
  }

  /** What the watchers of the stream weigh. */
  void watchers(long weight) {
    watcherBytes = weight;
    count();
  }

  private void count() {
    long now = bytes + handedBytes + watcherBytes;
    if (Math.abs(now - countedBytes) >= STEP || (now == 0 && countedBytes > 0)) {
      countedBytes = now;
      memory.shrinkTo(now);
    }
  }

  /** True if nothing waits. */
  boolean isEmpty() {
    return replies.isEmpty();
  }

  /** Bytes that wait, as a close upper bound. */
  long bytes() {
    return bytes;
  }

  /** Events that wait. */
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

  /** The client can take more. */
  void taker(CompletableFuture<List<WatchReply>> next) {
    taker = next;
    handedBytes = 0;
    count();
  }

  /** Passes on what waits, if anything does and somebody takes it; true when it did. */
  boolean flush() {
    CompletableFuture<List<WatchReply>> next = taker;
    if (next == null || replies.isEmpty()) {
      return false;
    }
    List<WatchReply> out = replies;
    taker = null;
    replies = new ArrayList<>();
    handedBytes = bytes;
    bytes = 0;
    events = 0;
    controls = 0;
    next.complete(out);
    return true;
  }

  /** Nothing more will come. */
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
