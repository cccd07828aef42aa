package io.troupe.edge.frames;

import io.troupe.model.MemoryBudget;
import org.jspecify.annotations.Nullable;

/** What an HTTP/2 stream holds from its headers to its end. */
final class OpenStream {
  private MemoryBudget.@Nullable Share share;
  private boolean ended;

  /** Memory that the HTTP layer holds for it. Only the thread of the frames uses this. */
  private long bytes;

  /** Whether the client has sent its whole request. Only the thread of the frames uses this. */
  private boolean complete;

  /**
   * Sets the share of the stream's call; closes it immediately if the stream has ended.
   * Thread-safe.
   */
  synchronized void holds(MemoryBudget.Share held) {
    if (ended) {
      held.close();
    } else {
      share = held;
      held.track();
    }
  }

  /** The connection sent bytes of the response. Thread-safe. */
  synchronized void sent(int length) {
    if (share != null) {
      share.sent(length);
    }
  }

  /**
   * Ends the stream: the response is sent, the stream is reset, or its connection is closed.
   * Thread-safe.
   */
  synchronized void end() {
    ended = true;
    if (share != null) {
      share.close();
      share = null;
    }
  }

  /** Adds to the memory that the HTTP layer holds for it. */
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
