package io.troupe.actors.peers;

import io.troupe.model.NodeId;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tracks which peers respond. Logs one line when a peer becomes unresponsive and one when it is
 * reachable again. Thread-safe.
 *
 * <p>A peer is unresponsive if messages have been sent to it for {@code timeout}, the last of them
 * recently, and it sent nothing. A peer to which nothing is sent is not tracked.
 */
final class PeerLiveness {
  private static final Logger LOG = LoggerFactory.getLogger(PeerLiveness.class);

  private static final int MAX_PEERS = 256;

  private static final class Contact {
    private volatile long lastSent;
    private volatile long firstUnanswered;
    private volatile boolean unanswered;
    private volatile long lastHeard;
    private volatile boolean heard;
    private volatile long since;
    private volatile long lastTold;
    private volatile boolean told;
    private volatile long connectedSince;
    private boolean away;
  }

  private final long timeoutNanos;
  private final long breakNanos;
  private final long quietNanos;
  private final Map<NodeId, Contact> contacts = new ConcurrentHashMap<>();

  /**
   * No message was received yet.
   *
   * @param timeout see above
   * @param silence a peer that sent nothing for so long counts as disconnected meanwhile
   * @param quiet longest time between two messages on a working connection: every member sends
   *     something to every other one several times within it
   */
  PeerLiveness(Duration timeout, Duration silence, Duration quiet) {
    this.timeoutNanos = timeout.toNanos();
    this.breakNanos = silence.toNanos();
    this.quietNanos = quiet.toNanos();
  }

  /** Bounds the memory for peers with invented ids. */
  private Contact of(NodeId peer) {
    Contact known = contacts.get(peer);
    if (known != null) {
      return known;
    }
    return contacts.size() < MAX_PEERS
        ? contacts.computeIfAbsent(peer, id -> new Contact())
        : new Contact();
  }

  /** A message was sent at {@code nanos}, a monotonic reading. */
  void sent(NodeId peer, long nanos) {
    Contact contact = of(peer);
    contact.lastSent = nanos;
    if (!contact.unanswered) {
      contact.firstUnanswered = nanos;
      contact.unanswered = true;
    }
  }

  /** Something was sent, whether it wants a reply or not. */
  void told(NodeId peer, long nanos) {
    Contact contact = of(peer);
    contact.lastTold = nanos;
    contact.told = true;
  }

  /** True if something was sent within {@code interval} before {@code nanos}. */
  boolean toldWithin(NodeId peer, Duration interval, long nanos) {
    Contact contact = of(peer);
    return contact.told && nanos - contact.lastTold < interval.toNanos();
  }

  /** A message came. */
  void heard(NodeId peer, long nanos) {
    Contact contact = of(peer);
    if (!contact.heard || nanos - contact.lastHeard >= breakNanos) {
      contact.since = nanos;
    }
    if (!contact.heard || nanos - contact.lastHeard >= quietNanos) {
      contact.connectedSince = nanos;
    }
    contact.lastHeard = nanos;
    contact.heard = true;
    contact.unanswered = false;
    synchronized (contact) {
      if (contact.away) {
        contact.away = false;
        LOG.info("peer became reachable remote-peer-id={}", peer);
      }
    }
  }

  /** True if the connection has held since {@code since} or longer, under any leader. */
  boolean connectedSince(NodeId peer, long since, long nanos) {
    Contact contact = of(peer);
    return contact.heard
        && nanos - contact.lastHeard < quietNanos
        && contact.connectedSince - since <= 0;
  }

  /** True if messages have been coming since {@code since} or longer without a break. */
  boolean heardSince(NodeId peer, long since, long nanos) {
    Contact contact = of(peer);
    return contact.heard && nanos - contact.lastHeard < breakNanos && contact.since - since <= 0;
  }

  /** Logs the peers that became unresponsive; called at intervals. */
  void check(long nanos) {
    contacts.forEach(
        (peer, contact) -> {
          synchronized (contact) {
            boolean away =
                contact.unanswered
                    && nanos - contact.firstUnanswered >= timeoutNanos
                    && nanos - contact.lastSent < timeoutNanos;
            if (away && !contact.away) {
              contact.away = true;
              LOG.warn("peer became unresponsive remote-peer-id={}", peer);
            }
          }
        });
  }

  /** True if the peer is unresponsive. */
  boolean isAway(NodeId peer) {
    Contact contact = of(peer);
    synchronized (contact) {
      return contact.away;
    }
  }
}
