package io.troupe.actors.peers;

import io.troupe.metrics.RateLimitedLogger;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Connections that other members opened to this member. There are at most {@link #MAX}; a further
 * one closes the connection that was idle for the longest time. The member that owned it opens it
 * again for its next message. Thread-safe.
 */
final class PeerConnections {
  /** Three of each member; those of machines that lost power are there until they are found out. */
  static final int MAX = 128;

  /** One of them. */
  interface Connection {
    /** When bytes came last, or the connection itself; a monotonic reading. */
    long heardNanos();

    /** Of a frame that is not complete. */
    int heldBytes();

    /** Counts them no more: the connection is about to end. */
    void release();

    /** Ends it, soon. */
    void end();
  }

  private final RateLimitedLogger log;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();

  PeerConnections(RateLimitedLogger log) {
    this.log = log;
  }

  synchronized void enter(Connection connection) {
    open.add(connection);
    if (open.size() <= MAX) {
      return;
    }
    long now = System.nanoTime();
    log.warn("more than " + MAX + " connections to the peer port, the most silent one ends", "");
    open.stream()
        .filter(other -> other != connection)
        .max(Comparator.comparingLong(other -> now - other.heardNanos()))
        .ifPresent(
            silent -> {
              open.remove(silent);
              silent.end();
            });
  }

  /**
   * Closes the connection that was idle for the longest time, of those with an incomplete frame.
   */
  synchronized void endMostSilentWithBytes() {
    long now = System.nanoTime();
    open.stream()
        .filter(each -> each.heldBytes() > 0)
        .max(Comparator.comparingLong(each -> now - each.heardNanos()))
        .ifPresent(
            silent -> {
              log.warn(
                  "incomplete frames on the peer port take too much memory, the most silent"
                      + " connection ends",
                  "bytes=" + silent.heldBytes());
              // Released now, so that the next call does not close another connection.
              silent.release();
              open.remove(silent);
              silent.end();
            });
  }

  void leave(Connection connection) {
    open.remove(connection);
  }

  int count() {
    return open.size();
  }
}
