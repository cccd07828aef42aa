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
 * Whose handshakes are answered. For each address that Artery shakes hands with it keeps queues and
 * connections of its own for as long as the process lives, and for each process at an address a
 * number; so those who may make it do so are counted. Thread-safe.
 *
 * <p>Members, and whoever this member asked something, are always let in. Of others, who may be
 * members of which this one has not heard yet, {@link #MAX_STRANGERS} are.
 */
final class HandshakeFilter {
  /** Far more than join or move while one process runs, and little to keep. */
  static final int MAX_STRANGERS = 32;

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
  private int strangers;
  private long tokens = BURST;
  private long refilledNanos;

  HandshakeFilter(PeerAddress self, long nowNanos) {
    this.self = self;
    this.refilledNanos = nowNanos;
  }

  /** From now on {@code members} says who belongs to the cluster. */
  void members(Predicate<PeerAddress> asKnown) {
    members = asKnown;
  }

  /** From now on {@code known} says which peer URLs a member has; none if it is no member. */
  void urls(LongFunction<List<String>> known) {
    urls = known;
  }

  /** Peer URLs of a member; empty if it is none as far as is known here. */
  List<String> urlsOf(long member) {
    return urls.apply(member);
  }

  /** This member is going to ask somebody at that address. */
  synchronized void expect(PeerAddress address) {
    if (asked.size() < MAX_ASKED) {
      asked.add(address);
    }
  }

  /** True if something may be sent to that address because somebody else says so. */
  synchronized boolean isKnown(PeerAddress address) {
    return known.contains(address) || isExpected(address);
  }

  private boolean isExpected(PeerAddress address) {
    return asked.contains(address) || members.test(address);
  }

  /**
   * Somebody shakes hands.
   *
   * @param uid tells processes apart
   * @return null if it is let in, else why not
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
    boolean stranger = !known.contains(from) && !isExpected(from);
    if (stranger && strangers >= MAX_STRANGERS) {
      return "too many that are no members";
    }
    if (!takeToken(nowNanos)) {
      return "too many new processes";
    }
    if (stranger) {
      strangers++;
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
