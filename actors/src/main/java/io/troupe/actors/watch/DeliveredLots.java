package io.troupe.actors.watch;

import io.troupe.protocol.EventBacklog;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Memory of the deliveries that wait in the mailbox of one stream, in their order. The hub adds,
 * the stream releases; what a stopped stream has not handled is released by either. Thread-safe.
 */
final class DeliveredLots {
  private final Queue<EventBacklog.Lot> lots = new ConcurrentLinkedQueue<>();

  /**
   * Adds the memory of a delivery, before it is sent.
   *
   * @param moreBytes what the delivery takes besides its events
   */
  void add(EventBacklog.Lot lot, long moreBytes) {
    lot.hold(moreBytes);
    lots.add(lot);
  }

  /** The oldest delivery is handled. */
  void releaseFirst() {
    EventBacklog.Lot lot = lots.poll();
    if (lot != null) {
      lot.release();
    }
  }

  /** No delivery will be handled any more. */
  void releaseAll() {
    for (EventBacklog.Lot lot = lots.poll(); lot != null; lot = lots.poll()) {
      lot.release();
    }
  }
}
