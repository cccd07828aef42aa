package io.troupe.actors.watch;

import io.troupe.protocol.EventBacklog;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Memory of the deliveries that wait in the mailbox of one stream, in order. The hub adds, the
 * stream releases. Either of them releases the rest of a stopped stream. Thread-safe.
 */
final class DeliveredLots {
  private final Queue<EventBacklog.Lot> lots = new ConcurrentLinkedQueue<>();

  /**
   * Adds the memory of a delivery, before it is sent.
   *
   * @param moreBytes memory of the delivery besides its events
   */
  void add(EventBacklog.Lot lot, long moreBytes) {
    lot.hold(moreBytes);
    lots.add(lot);
  }

  /** Releases the oldest delivery, which was handled. */
  void releaseFirst() {
    EventBacklog.Lot lot = lots.poll();
    if (lot != null) {
      lot.release();
    }
  }

  /** Releases all deliveries; none will be handled. */
  void releaseAll() {
    for (EventBacklog.Lot lot = lots.poll(); lot != null; lot = lots.poll()) {
      lot.release();
    }
  }
}
