package io.troupe.protocol;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Memory of committed events between the apply actor and the buffers of watch streams: what waits
 * in the mailboxes of the watch hub and of its streams. When it is used up, events are not handed
 * over, and watchers read them from history. Thread-safe.
 */
public final class EventBacklog {
  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  /**
   * Nothing is held.
   *
   * @param maxBytes of all lots, but for one that is alone
   */
  public EventBacklog(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Bytes that are held now. */
  public long bytes() {
    return bytes.get();
  }

  /** Most bytes that are held, but for a lot that is alone. */
  public long maxBytes() {
    return maxBytes;
  }

  /**
   * Takes memory for events that are passed on together.
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
   * first holder is the one that took it.
   */
  public final class Lot {
    private final AtomicInteger holders = new AtomicInteger(1);
    private final AtomicLong lotBytes;

    private Lot(long lotBytes) {
      this.lotBytes = new AtomicLong(lotBytes);
    }

    /**
     * One more holder. Only called by a holder.
     *
     * @param moreBytes what the message to that holder takes besides the events
     */
    public void hold(long moreBytes) {
      holders.incrementAndGet();
      lotBytes.addAndGet(moreBytes);
      bytes.addAndGet(moreBytes);
    }

    /** One holder less; the last one gives the memory back. */
    public void release() {
      if (holders.decrementAndGet() == 0) {
        bytes.addAndGet(-lotBytes.get());
      }
    }
  }
}
