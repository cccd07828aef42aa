package io.troupe.actors.peers;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which connections to a peer port with TLS may begin a handshake. One costs a member some
 * thousands of times what it costs whoever only repeats the first message of another: without a
 * limit unknown peers take the processor from the members.
 *
 * <p>An address from which a member spoke has a share of its own, so members get through however
 * many unknown peers there are elsewhere. Other addresses have each a small share, as far as the one
 * that they have together reaches. Thread-safe.
 */
final class HandshakeLimit {
  /** All members behind one address restarts: three connections of each. */
  static final Share OF_A_MEMBER = new Share(100, 50);

  /** A new member opens three connections to each other one, and may share its address. */
  static final Share OF_A_STRANGER = new Share(30, 5);

  /** Some tenth of a processor. */
  static final Share OF_STRANGERS = new Share(100, 50);

  static final int MAX_MEMBERS = 1024;
  static final int MAX_STRANGERS = 4096;

  /** Whoever has an IPv6 address usually has all of the same network. */
  private static final int NETWORK_BYTES = 8;

  /**
   * How many handshakes.
   *
   * @param atOnce after silence
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
  private final Map<ByteBuffer, Bucket> strangers = limited(MAX_STRANGERS);
  private final Bucket together;

  HandshakeLimit(long nowNanos) {
    together = new Bucket(OF_STRANGERS, nowNanos);
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
        strangers.computeIfAbsent(network(from), network -> new Bucket(OF_A_STRANGER, nowNanos));
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

  /** Behind a handshake something was said from there that only members say. */
  synchronized void memberSpoke(InetAddress from, long nowNanos) {
    members.computeIfAbsent(from, member -> new Bucket(OF_A_MEMBER, nowNanos));
  }
}
