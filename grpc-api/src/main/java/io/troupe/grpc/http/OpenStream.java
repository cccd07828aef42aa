package io.troupe.grpc.http;

import io.troupe.model.MemoryBudget;
import org.jspecify.annotations.Nullable;

/** What a stream of HTTP/2 holds from its headers to its end. Thread-safe. */
final class OpenStream {
  private MemoryBudget.@Nullable Share share;
  private boolean ended;

  /** The share of the stream's call; closed at once if the stream has ended. */
  synchronized void holds(MemoryBudget.Share held) {
    if (ended) {
      held.close();
    } else {
      share = held;
    }
  }

  /** The response is sent, or the stream reset, or its connection closed. */
  synchronized void end() {
    ended = true;
    if (share != null) {
      share.close();
      share = null;
    }
  }
}
