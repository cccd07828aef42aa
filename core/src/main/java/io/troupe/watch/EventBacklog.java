package io.troupe.watch;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Memory of committed events between the apply actor and the buffers of watch streams: events in
 * the mailboxes of the watch hub and of its streams. If it is used up, events are not passed on,
 * and watchers read them from history. Thread-safe.
 */
public final class EventBacklog {
  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  /**
   * Starts empty.
   *
   * @param maxBytes limit for all lots, except for a single lot that exceeds it
   */
  public EventBacklog(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Bytes that are held now. */
  public long bytes() {
    return bytes.get();
  }

  /** Limit in bytes, except for a single lot that exceeds it. */
  public long maxBytes() {
    return maxBytes;
  }

  /**
   * Reserves memory for events that are passed on together.
   *
   * @return null if they do not fit; a lot always fits if nothing else is held
   */
  public @Nullable Lot tryTake(long lotBytes) {
    long before = bytes.getAndAdd(lotBytes);
    if (before > 0 && before + lotBytes > maxBytes) {
      bytes.addAndGet(-lotBytes);
      return null;
    }
    return new Lot(lotBytes);
  }

  /**
   * Events that were passed on together. Held by each mailbox that still has some of them; the
   * first holder is the one that reserved it.
   */
  public final class Lot {
    private final AtomicInteger holders = new AtomicInteger(1);
    private final AtomicLong lotBytes;

    private Lot(long lotBytes) {
      this.lotBytes = new AtomicLong(lotBytes);
    }

    /**
     * Adds a holder. Must be called by a holder.
     *
     * @param moreBytes size of the message to that holder, without the events
     */
    public void hold(long moreBytes) {
      holders.incrementAndGet();
      lotBytes.addAndGet(moreBytes);
      bytes.addAndGet(moreBytes);
    }

    /** Removes a holder; the last one releases the memory. */
    public void release() {
      if (holders.decrementAndGet() == 0) {
        bytes.addAndGet(-lotBytes.get());
      }
    }
  }
}
