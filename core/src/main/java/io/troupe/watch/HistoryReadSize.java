package io.troupe.watch;

import io.troupe.model.Event;
import java.util.List;

/** Sizes of a read of history. A stream reserves the memory before it reads (W8). */
public enum HistoryReadSize {
  /** For a stream of a client that holds little, while other clients use up the memory. */
  SMALL(32 << 10, 100),

  /** The usual size. A larger revision is sent to the client in pieces. */
  LARGE(1 << 20, 1000);

  private final int bytes;
  private final int revisions;

  HistoryReadSize(int bytes, int revisions) {
    this.bytes = bytes;
    this.revisions = revisions;
  }

  /** Memory that a read reserves. */
  public int bytes() {
    return bytes;
  }

  /** Distinct revisions after which a read stops. */
  public int revisions() {
    return revisions;
  }

  /**
   * Bytes of events: a read stops after the revision that reaches them, and returns only a part of
   * a revision that is larger.
   */
  public int stopBytes() {
    return bytes / 2;
  }

  /** Returns false if a small read returned a large event, which must not be kept. */
  public boolean holds(List<Event> events, boolean prevKv) {
    if (this == LARGE) {
      return true;
    }
    long size = 0;
    for (Event event : events) {
      size += event.maxBytes(prevKv);
    }
    return size <= bytes;
  }
}
