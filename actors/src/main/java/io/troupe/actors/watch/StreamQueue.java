package io.troupe.actors.watch;

import io.troupe.model.Event;
import io.troupe.model.KeyValue;
import io.troupe.protocol.SharedEvent;
import io.troupe.protocol.WatchReply;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Replies that a stream has not sent yet, and their weight. Handed out in one piece whenever the
 * client can take more.
 */
final class StreamQueue {
  /** What a record weighs besides its key and value, at most. */
  private static final int RECORD_OVERHEAD = 64;

  private List<WatchReply> replies = new ArrayList<>();
  private long bytes;
  private int events;
  private @Nullable CompletableFuture<List<WatchReply>> taker;

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
    }
    bytes += size(reply);
  }

  /** The client can take more. */
  void taker(CompletableFuture<List<WatchReply>> next) {
    taker = next;
  }

  /** Hands over what waits, if anything does and somebody takes it; true when it did. */
  boolean flush() {
    CompletableFuture<List<WatchReply>> next = taker;
    if (next == null || replies.isEmpty()) {
      return false;
    }
    List<WatchReply> out = replies;
    taker = null;
    replies = new ArrayList<>();
    bytes = 0;
    events = 0;
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
