package io.troupe.watch;

import io.troupe.model.Event;
import io.troupe.mvcc.HistoryResult;
import io.troupe.mvcc.MvccReader.HistoryLimits;

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

  /** Limits for the reader: it stops after the revision with which half of the memory is used. */
  public HistoryLimits limits() {
    return new HistoryLimits(revisions, bytes / 2, bytes / 2);
  }

  /**
   * Returns false if the result holds only a part of its last revision, or if a small read returned
   * a large event, which must not be kept.
   */
  public boolean holds(HistoryResult.Events found, boolean prevKv) {
    if (found.nextSub() > 0) {
      return false;
    }
    if (this == LARGE) {
      return true;
    }
    long size = 0;
    for (Event event : found.events()) {
      size += StreamQueue.size(event, prevKv);
    }
    return size <= bytes;
  }
}
