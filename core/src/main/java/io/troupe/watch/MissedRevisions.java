package io.troupe.watch;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import org.jspecify.annotations.Nullable;

/**
 * Successive revisions whose events were not passed on because the backlog is full. The sender adds
 * revisions until the receiver takes them, so one message covers any number of revisions.
 * Thread-safe.
 */
public final class MissedRevisions {
  /**
   * The missed revisions.
   *
   * @param first revision, inclusive
   * @param last revision, inclusive
   * @param keys a range that contains every key changed by them
   */
  public record Span(long first, long last, KeyRange keys) {}

  private Span span;
  private boolean taken;

  /** Starts with one revision. */
  public MissedRevisions(long revision, KeyRange keys) {
    this.span = new Span(revision, revision, keys);
  }

  /**
   * Adds the next revision that changed a key.
   *
   * @return false if the receiver already took the revisions: then nothing is added
   */
  public synchronized boolean add(long revision, KeyRange keys) {
    if (!taken) {
      span = new Span(span.first(), revision, union(span.keys(), keys));
    }
    return !taken;
  }

  /** Takes all revisions; none can be added afterwards. */
  public synchronized Span take() {
    taken = true;
    return span;
  }

  private static KeyRange union(KeyRange one, KeyRange other) {
    Bytes from = one.key().compareTo(other.key()) <= 0 ? one.key() : other.key();
    Bytes end = later(one.toExclusive(), other.toExclusive());
    return end == null ? new KeyRange(from, KeyRange.all().rangeEnd()) : new KeyRange(from, end);
  }

  /** Null means no end. */
  private static @Nullable Bytes later(@Nullable Bytes one, @Nullable Bytes other) {
    if (one == null || other == null) {
      return null;
    }
    return one.compareTo(other) >= 0 ? one : other;
  }
}
