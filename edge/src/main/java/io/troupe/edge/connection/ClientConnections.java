package io.troupe.edge.connection;

import io.troupe.metrics.MemberMetrics;
import io.troupe.model.MemoryBudget;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.NotUsed;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.javadsl.Sink;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All client connections of this process, on all ports. Limits their number, and closes the slowest
 * connections when clients hold nearly all of their memory budget. Thread-safe.
 */
public final class ClientConnections {
  private static final Logger LOG = LoggerFactory.getLogger(ClientConnections.class);

  /** A connection without a call for this long is closed if a new one needs its slot. */
  private static final long IDLE_NANOS = 5_000_000_000L;

  /** Checks in a row, one second apart, without progress before a connection counts as slow. */
  private static final int SLOW_CHECKS = 3;

  /** A connection that moves less than 1/64 of what it holds between checks makes no progress. */
  private static final int SLOW_PART = 64;

  private static final long SLOW_BYTES = 16 << 10;

  /** What a rejected client gets: the end of its connection. */
  public static final Flow<ByteString, ByteString, NotUsed> CLOSED =
      Flow.fromSinkAndSource(Sink.cancelled(), Source.empty());

  private final ConnectionLimits limits;
  private final MemoryBudget memory;
  private final Set<ConnectionState> all = new LinkedHashSet<>();
  private final Map<InetAddress, Integer> byAddress = new HashMap<>();
  private final AtomicLong refused = new AtomicLong();
  private final AtomicLong displaced = new AtomicLong();
  private final AtomicLong slow = new AtomicLong();

  /** {@link MemoryBudget#refused} at the last check; only {@link #relieve} uses it. */
  private long checkedRefusals;

  public ClientConnections(ConnectionLimits limits, MemoryBudget memory) {
    this.limits = limits;
    this.memory = memory;
  }

  /** Registers the metrics. */
  public void register(MemberMetrics metrics) {
    metrics.gauge("troupe_client_connections", "Connections of clients.", this::count);
    metrics.counters(
        "troupe_client_connections_closed_total",
        "Connections of clients that this member closed, by reason: too_many (refused), idle (made "
            + "space for a new one), slow (held memory that other clients needed).",
        target -> {
          target.value(refused.doubleValue(), "too_many");
          target.value(displaced.doubleValue(), "idle");
          target.value(slow.doubleValue(), "slow");
        },
        "reason");
  }

  private synchronized int count() {
    return all.size();
  }

  /**
   * Registers a new connection; {@link #ended} must be called when it is closed.
   *
   * @param address of the client; null over a unix socket
   * @return null if there are too many connections: the client gets only {@link #CLOSED}
   */
  public synchronized @Nullable ConnectionState begin(@Nullable InetAddress address) {
    int ofAddress = address == null ? 0 : byAddress.getOrDefault(address, 0);
    boolean addressFull = ofAddress >= limits.perAddress();
    if ((addressFull || all.size() >= limits.connections())
        && !displace(addressFull ? address : null)) {
      if (refused.getAndIncrement() % 1000 == 0) {
        LOG.warn(
            "rejected connection, too many clients; raise troupe.max-connections or "
                + "troupe.max-connections-per-address if they are wanted connections={} "
                + "of-this-address={} rejected={}",
            all.size(),
            ofAddress,
            refused.get());
      }
      return null;
    }
    ConnectionState begun = new ConnectionState(memory.holder(), address);
    all.add(begun);
    if (address != null) {
      byAddress.merge(address, 1, Integer::sum);
    }
    return begun;
  }

  /** Closes the connection that has been idle for longest, of that address if it is given. */
  private boolean displace(@Nullable InetAddress address) {
    long now = System.nanoTime();
    ConnectionState idlest = null;
    long longest = IDLE_NANOS;
    for (ConnectionState each : all) {
      long idle = now - each.lastMovedNanos();
      if (idle >= longest
          && !each.hasCalls()
          && (address == null || address.equals(each.address()))) {
        idlest = each;
        longest = idle;
      }
    }
    if (idlest == null) {
      return false;
    }
    displaced.incrementAndGet();
    remove(idlest);
    idlest.close("was idle when a new connection needed its slot");
    return true;
  }

  /** Removes a closed connection. */
  public synchronized void ended(ConnectionState connection) {
    remove(connection);
  }

  private void remove(ConnectionState connection) {
    if (all.remove(connection) && connection.address() != null) {
      byAddress.computeIfPresent(
          connection.address(), (address, count) -> count == 1 ? null : count - 1);
    }
  }

  /**
   * Must be called every second. When less than an eighth of the memory is left, closes connections
   * that make no progress, those that hold most first, until a quarter is left. If requests were
   * refused since the last call, continues until half is left: the free memory may be more than an
   * eighth and still too little for a large read.
   */
  public void relieve() {
    List<ConnectionState> slowest = new ArrayList<>();
    synchronized (this) {
      for (ConnectionState each : all) {
        if (each.slowChecks(SLOW_BYTES, SLOW_PART) >= SLOW_CHECKS) {
          slowest.add(each);
        }
      }
    }
    long refusedRequests = memory.refused();
    boolean refusing = refusedRequests != checkedRefusals;
    checkedRefusals = refusedRequests;
    long max = memory.maxBytes();
    if (!refusing && memory.taken() <= max / 8 * 7) {
      return;
    }
    slowest.sort(
        Comparator.comparingLong((ConnectionState each) -> each.memory().held()).reversed());
    long toFree = memory.taken() - (refusing ? max / 2 : max / 4 * 3);
    for (ConnectionState each : slowest) {
      if (toFree <= 0) {
        return;
      }
      long held = each.memory().held();
      toFree -= held;
      if (each.isClosing()) {
        continue;
      }
      slow.incrementAndGet();
      LOG.warn(
          "closing slow client connection, clients hold too much memory; "
              + "raise troupe.client-memory-bytes if they are wanted address={} held-bytes={}",
          each.address(),
          held);
      each.close("held memory that other clients needed and made no progress");
    }
  }
}
