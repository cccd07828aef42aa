package io.troupe.actors.peers;

import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Decides which handshakes are accepted. Artery keeps queues and connections for each address that
 * it shakes hands with, as long as the process lives, and a number for each process at an address.
 * So the peers that may cause this are limited. Thread-safe.
 *
 * <p>Members, and addresses that this member queried, are always accepted. Of other peers, which
 * may be members that this one does not know yet, {@link #MAX_UNKNOWN_PEERS} are accepted.
 */
final class HandshakeFilter {
  /** Far more than join or move while one process runs, and little to keep. */
  static final int MAX_UNKNOWN_PEERS = 32;

  /** Processes at known addresses that may begin at once; then one more each {@link #REFILL}. */
  static final int BURST = 64;

  static final Duration REFILL = Duration.ofSeconds(5);

  private static final int MAX_PROCESSES = 4096;
  private static final int MAX_ASKED = 1024;

  private final PeerAddress self;
  private final Set<PeerAddress> known = new HashSet<>();
  private final Set<PeerAddress> asked = new HashSet<>();
  private final Map<Long, PeerAddress> processes = new LinkedHashMap<>();
  private volatile Predicate<PeerAddress> members = address -> false;
  private volatile LongFunction<List<String>> urls = member -> List.of();
  private int unknownPeers;
  private long tokens = BURST;
  private long refilledNanos;

  HandshakeFilter(PeerAddress self, long nowNanos) {
    this.self = self;
    this.refilledNanos = nowNanos;
  }

  /** Sets the test for addresses of members. */
  void members(Predicate<PeerAddress> asKnown) {
    members = asKnown;
  }

  /** Sets the lookup of a member's peer URLs; empty if it is no member. */
  void urls(LongFunction<List<String>> known) {
    urls = known;
  }

  /** Peer URLs of a member; empty if it is none as far as is known here. */
  List<String> urlsOf(long member) {
    return urls.apply(member);
  }

  /** This member is about to query the peer at that address. */
  synchronized void expect(PeerAddress address) {
    if (asked.size() < MAX_ASKED) {
      asked.add(address);
    }
  }

  /** Returns true if this member may send to that address although another peer named it. */
  synchronized boolean isKnown(PeerAddress address) {
    return known.contains(address) || isExpected(address);
  }

  private boolean isExpected(PeerAddress address) {
    return asked.contains(address) || members.test(address);
  }

  /**
   * A peer starts a handshake.
   *
   * @param uid distinguishes processes
   * @return null if it is accepted, else the reason
   */
  synchronized @Nullable String refusal(PeerAddress from, long uid, long nowNanos) {
    if (from.equals(self)) {
      return "it uses the address of this member";
    }
    PeerAddress holder = processes.get(uid);
    if (from.equals(holder)) {
      return null;
    }
    if (holder != null) {
      return "it uses the number of another process";
    }
    boolean unknown = !known.contains(from) && !isExpected(from);
    if (unknown && unknownPeers >= MAX_UNKNOWN_PEERS) {
      return "too many that are no members";
    }
    if (!takeToken(nowNanos)) {
      return "too many new processes";
    }
    if (unknown) {
      unknownPeers++;
    }
    known.add(from);
    if (processes.size() >= MAX_PROCESSES) {
      processes.remove(processes.keySet().iterator().next());
    }
    processes.put(uid, from);
    return null;
  }

  private boolean takeToken(long nowNanos) {
    long due = (nowNanos - refilledNanos) / REFILL.toNanos();
    if (due > 0) {
      tokens = Math.min(BURST, tokens + due);
      refilledNanos += due * REFILL.toNanos();
    }
    if (tokens == 0) {
      return false;
    }
    tokens--;
    return true;
  }
}
