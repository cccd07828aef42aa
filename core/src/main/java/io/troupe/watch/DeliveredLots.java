package io.troupe.watch;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Memory of the messages with deliveries that wait in the mailbox of one stream, in order. The hub
 * adds, the stream releases. Either of them releases the rest of a stopped stream. Thread-safe.
 */
public final class DeliveredLots {
  /** Approximate memory of a message to a stream, and of each delivery in it, besides events. */
  private static final long DELIVERY_BYTES = 128;

  /** Approximate memory of the place of an event in a delivery. */
  private static final long PLACE_BYTES = 8;

  private final Queue<EventBacklog.Lot> lots = new ConcurrentLinkedQueue<>();

  /**
   * Adds the memory of a message to the stream, before it is sent.
   *
   * @param lot memory of the events
   * @param deliveries of the message
   */
  public void add(EventBacklog.Lot lot, List<Delivery> deliveries) {
    long bytes = DELIVERY_BYTES;
    for (Delivery delivery : deliveries) {
      bytes += DELIVERY_BYTES + PLACE_BYTES * delivery.events().size();
    }
    lot.hold(bytes);
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
