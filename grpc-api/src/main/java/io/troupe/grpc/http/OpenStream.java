package io.troupe.grpc.http;

import io.troupe.model.MemoryBudget;
import org.jspecify.annotations.Nullable;

/** What a stream of HTTP/2 holds from its headers to its end. */
final class OpenStream {
  private MemoryBudget.@Nullable Share share;
  private boolean ended;

  /** What the HTTP layer holds for it. Only the thread of the frames uses this. */
  private long bytes;

  /** Whether the client has sent its whole request. Only the thread of the frames uses this. */
  private boolean complete;

  /** The share of the stream's call; closed at once if the stream has ended. Thread-safe. */
  synchronized void holds(MemoryBudget.Share held) {
    if (ended) {
      held.close();
    } else {
      share = held;
    }
  }

  /** The response is sent, or the stream reset, or its connection closed. Thread-safe. */
  synchronized void end() {
    ended = true;
    if (share != null) {
      share.close();
      share = null;
    }
  }

  /** Adds to what the HTTP layer holds for it. */
  void add(long more) {
    bytes += more;
  }

  long bytes() {
    return bytes;
  }

  /** The client has sent its whole request. */
  void completed() {
    complete = true;
  }

  boolean isComplete() {
    return complete;
  }
}
