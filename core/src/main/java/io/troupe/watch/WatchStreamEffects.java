package io.troupe.watch;

import io.troupe.model.KeyRange;
import io.troupe.model.SharedEvents;
import org.jspecify.annotations.Nullable;

/**
 * The effects that the shell of a {@link WatchStreamCore} must execute. The messages to the hub
 * arrive there in this order; so do the replies at the client. An implementation never calls the
 * core from inside one of these methods: it queues.
 *
 * @param <T> identifies the sender of a client's request
 */
public interface WatchStreamEffects<T> {
  // ---- to the hub

  /** Requests live events from a revision on. Completed by joined or lagging. */
  void join(long serial, KeyRange range, long nextRevision);

  /** The watcher stops receiving live events. */
  void leave(long serial);

  /**
   * Requests {@link WatchStreamCore#revision}.
   *
   * @param client sender of a client's request; null if the stream itself requests it
   */
  void askRevision(@Nullable T client);

  /**
   * Requests {@link WatchStreamCore#handled}, after the hub has handled all earlier messages of
   * this stream.
   */
  void askHandled(T client);

  // ---- history

  /**
   * Starts a read of history. Completed once by one of the methods of the core about history; one
   * is in progress at most.
   *
   * @param from first revision that is needed
   * @param size limits of the read, for which the memory is reserved
   */
  void readHistory(long serial, WatchRequest request, long from, HistoryReadSize size);

  // ---- replies to the client, which wait for flush

  /** A watcher exists (W2). */
  void created(long watchId, long revision);

  /** A create was refused (W1, W4, W9, W18). */
  void createFailed(long revision, String reason);

  /**
   * A watcher was canceled (W12, W13, W18).
   *
   * @param compactRevision 0 unless a compaction canceled it
   * @param reason empty unless the permission was revoked
   */
  void canceled(long watchId, long revision, long compactRevision, String reason);

  /** All events up to this revision were sent; for all watchers of the stream (W16). */
  void streamProgress(long revision);

  /** All events up to this revision were sent for one watcher (W15). */
  void progress(long watchId, long revision);

  /**
   * Events (W6, W7).
   *
   * @param events after the filter, not empty
   * @param fragment true if more of the same revision follows (W17)
   */
  void events(
      long watchId, long headerRevision, SharedEvents events, boolean prevKv, boolean fragment);

  /**
   * All events of one revision, which are too many to be held together.
   *
   * @param headerRevision store revision of the header
   * @param revision the revision; the shell applies the filter
   */
  void largeRevision(long watchId, WatchRequest request, long headerRevision, long revision);

  /** Passes the waiting replies, at least one, to the client, which can take them. */
  void flush();

  /**
   * Requests {@link WatchStreamCore#retry}, soon and once: replies wait until memory of clients is
   * free, and no other input follows from that.
   */
  void retryLater();

  // ---- to the sender of requests

  /** The sender may send the next request. */
  void accepted(T client);
}
