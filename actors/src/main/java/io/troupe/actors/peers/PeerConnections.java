package io.troupe.actors.peers;

import io.troupe.metrics.RateLimitedLogger;
import java.time.Duration;
import java.util.Comparator;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Connections that other members opened to this member, and the memory of their incomplete
 * messages. There are at most {@link #MAX} connections; a further one closes another one: one
 * without a greeting first, then one of a process that is no member, then the one that was idle for
 * the longest time. Its owner opens it again for its next message. Thread-safe.
 */
final class PeerConnections {
  /**
   * Three of each member; those of machines that lost power stay until their timeout has expired.
   */
  static final int MAX = 128;

  /** An incomplete message without a byte for so long loses its memory to other messages. */
  private static final Duration STALLED = Duration.ofSeconds(2);

  /** A connection without a byte for so long ends: the other side pings every half second. */
  private static final Duration IDLE = Duration.ofSeconds(30);

  /** One of them. */
  interface Connection {
    /** How much it is worth. */
    enum Rank {
      NO_GREETING,
      NO_MEMBER,
      MEMBER
    }

    Rank rank();

    /** Time of the last received bytes; a monotonic reading. */
    long heardNanos();

    /** Memory of its incomplete message. */
    int heldBytes();

    /** Ends the connection soon, and returns its memory now. */
    void end();
  }

  private final PeerMemory.Part memory;
  private final RateLimitedLogger log;
  private final Set<Connection> open = ConcurrentHashMap.newKeySet();

  /**
   * No connections.
   *
   * @param memory of incomplete messages
   */
  PeerConnections(PeerMemory.Part memory, RateLimitedLogger log) {
    this.memory = memory;
    this.log = log;
  }

  synchronized void enter(Connection connection) {
    open.add(connection);
    if (open.size() > MAX) {
      log.warn("more than " + MAX + " connections to the peer port, the most idle one ends", "");
      end(worst(each -> each != connection));
    }
  }

  void leave(Connection connection) {
    open.remove(connection);
  }

  /**
   * Ends connections without a byte for 30 s. Called every few seconds: a time limit of the socket
   * would cost two more system calls for each message.
   */
  void endIdle() {
    long now = System.nanoTime();
    for (Connection each : open) {
      if (now - each.heardNanos() >= IDLE.toNanos()) {
        each.end();
      }
    }
  }

  /** Ends all connections. */
  void endAll() {
    open.forEach(Connection::end);
  }

  int count() {
    return open.size();
  }

  private @Nullable Connection worst(Predicate<Connection> among) {
    long now = System.nanoTime();
    return open.stream()
        .filter(among)
        .min(
            Comparator.comparing(Connection::rank)
                .thenComparingLong(each -> each.heardNanos() - now))
        .orElse(null);
  }

  private void end(@Nullable Connection connection) {
    if (connection != null) {
      open.remove(connection);
      connection.end();
    }
  }

  /**
   * Takes memory for a connection's incomplete message. If there is none, connections of processes
   * that are no members end in favor of members, and connections with a stalled message in favor of
   * any; otherwise the message is dropped, so that messages that began earlier complete. A member
   * alone may continue whatever its message needs: a committed entry must reach a member with less
   * memory than its leader.
   *
   * @return false if the message must be dropped
   */
  boolean take(Connection connection, int bytes) {
    return memory.tryTake(bytes) || makeSpace(connection, bytes);
  }

  private synchronized boolean makeSpace(Connection newest, int bytes) {
    boolean member = newest.rank() == Connection.Rank.MEMBER;
    long now = System.nanoTime();
    while (!memory.tryTake(bytes)) {
      Connection other =
          worst(
              each ->
                  each != newest
                      && each.heldBytes() > 0
                      && ((member && each.rank() != Connection.Rank.MEMBER)
                          || now - each.heardNanos() >= STALLED.toNanos()));
      if (other != null) {
        memory.refused();
        log.warn(
            "incomplete messages of other members take too much memory, one connection ends;",
            "bytes=" + other.heldBytes());
        end(other);
      } else if (member && memory.taken() == newest.heldBytes()) {
        memory.change(bytes);
        return true;
      } else {
        memory.refused();
        return false;
      }
    }
    return true;
  }

  /** Returns memory. */
  void release(int bytes) {
    memory.change(-bytes);
  }
}
