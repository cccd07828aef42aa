package io.troupe.watch;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Memory of the messages with deliveries that wait in the mailbox of one stream, in order. The hub
 * adds, the stream releases. Either of them releases the rest of a stopped stream. Thread-safe.
 */
public final class DeliveredLots {
  /** Approximate memory of a message to a stream, and of each delivery in it, besides events. */
  private static final long DELIVERY_BYTES = 128;

  private final Queue<EventBacklog.Lot> lots = new ConcurrentLinkedQueue<>();

  /**
   * Adds the memory of a message to the stream, before it is sent.
   *
   * @param lot memory of the events
   * @param deliveries number of deliveries in the message
   */
  public void add(EventBacklog.Lot lot, int deliveries) {
    lot.hold(DELIVERY_BYTES * (1L + deliveries));
    lots.add(lot);
  }

  /** Releases the oldest message, which was handled. */
  public void releaseFirst() {
    EventBacklog.Lot lot = lots.poll();
    if (lot != null) {
      lot.release();
    }
  }

  /** Releases all messages; none will be handled. */
  public void releaseAll() {
    for (EventBacklog.Lot lot = lots.poll(); lot != null; lot = lots.poll()) {
      lot.release();
    }
  }
}
