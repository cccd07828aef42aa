package io.troupe.actors.peers;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Decides which connections to a peer port with TLS may start a handshake. A handshake costs a
 * member some thousands of times what it costs a peer that only replays a recorded first message.
 * Without a limit unknown peers would take the processor from the members.
 *
 * <p>An address that a member used has its own share, so members get through however many unknown
 * peers there are elsewhere. Every other address has a small share, within one share for all of
 * them together. Thread-safe.
 */
final class HandshakeLimit {
  /** All members behind one address restart: three connections of each. */
  static final Share OF_A_MEMBER = new Share(100, 50);

  /** A new member opens three connections to each other one, and may share its address. */
  static final Share OF_UNKNOWN_PEER = new Share(30, 5);

  /** Some tenth of a processor. */
  static final Share OF_UNKNOWN_PEERS = new Share(100, 50);

  static final int MAX_MEMBERS = 1024;
  static final int MAX_UNKNOWN_PEERS = 4096;

  /** A peer with an IPv6 address usually has all addresses of its network. */
  private static final int NETWORK_BYTES = 8;

  /**
   * How many handshakes.
   *
   * @param atOnce after a time without handshakes
   * @param perSecond in the long run
   */
  record Share(int atOnce, int perSecond) {
    private long intervalNanos() {
      return Duration.ofSeconds(1).toNanos() / perSecond;
    }
  }

  /** What is left of a share. */
  private static final class Bucket {
    private final Share share;

    /** When all that was taken would have been, one in each interval. */
    private long usedNanos;

    Bucket(Share share, long nowNanos) {
      this.share = share;
      this.usedNanos = nowNanos;
    }

    boolean has(long nowNanos) {
      return usedNanos - nowNanos <= (share.atOnce() - 1) * share.intervalNanos();
    }

    void take(long nowNanos) {
      usedNanos = nowNanos + Math.max(0, usedNanos - nowNanos) + share.intervalNanos();
    }
  }

  private final Map<InetAddress, Bucket> members = limited(MAX_MEMBERS);
  private final Map<ByteBuffer, Bucket> unknownPeers = limited(MAX_UNKNOWN_PEERS);
  private final Bucket together;

  HandshakeLimit(long nowNanos) {
    together = new Bucket(OF_UNKNOWN_PEERS, nowNanos);
  }

  /** Forgets the one that was not used for the longest time. */
  private static <K> Map<K, Bucket> limited(int most) {
    return new LinkedHashMap<>(16, 0.75f, true) {
      @Override
      protected boolean removeEldestEntry(Map.Entry<K, Bucket> eldest) {
        return size() > most;
      }
    };
  }

  private static ByteBuffer network(InetAddress address) {
    ByteBuffer bytes = ByteBuffer.wrap(address.getAddress());
    return address instanceof Inet6Address ? bytes.limit(NETWORK_BYTES) : bytes;
  }

  /** Whether a connection from there may begin its handshake now. */
  synchronized boolean admits(InetAddress from, long nowNanos) {
    Bucket member = members.get(from);
    if (member != null) {
      return taken(member, nowNanos);
    }
    if (!together.has(nowNanos)) {
      return false;
    }
    Bucket own =
        unknownPeers.computeIfAbsent(
            network(from), network -> new Bucket(OF_UNKNOWN_PEER, nowNanos));
    if (!taken(own, nowNanos)) {
      return false;
    }
    together.take(nowNanos);
    return true;
  }

  private static boolean taken(Bucket bucket, long nowNanos) {
    if (!bucket.has(nowNanos)) {
      return false;
    }
    bucket.take(nowNanos);
    return true;
  }

  /** A peer at that address sent, after its handshake, a message that only members send. */
  synchronized void memberSpoke(InetAddress from, long nowNanos) {
    members.computeIfAbsent(from, member -> new Bucket(OF_A_MEMBER, nowNanos));
  }
}
