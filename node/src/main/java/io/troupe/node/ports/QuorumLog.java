package io.troupe.node.ports;

import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.node.logging.MemberNames;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.MemberStatus;
import io.troupe.raft.membership.Membership;
import io.troupe.server.Member;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs one line when this member has no leader because a majority of the voters is not connected,
 * with the missing members, and one line when there is a leader again. Also keeps the names of the
 * members in the log. Called by one thread at a time.
 */
public final class QuorumLog {
  private static final Logger LOG = LoggerFactory.getLogger(QuorumLog.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);

  private final MemberStatus status;
  private final Supplier<ClusterView> cluster;
  private final LongSupplier nanos;
  private boolean led;
  private boolean lost;
  private long sinceNanos;
  private boolean leaderless;

  /**
   * Creates the log of one member.
   *
   * @param cluster the members as of now; fails while a snapshot is installed
   * @param nanos a monotonic clock
   */
  QuorumLog(MemberStatus status, Supplier<ClusterView> cluster, LongSupplier nanos) {
    this.status = status;
    this.cluster = cluster;
    this.nanos = nanos;
  }

  /** Starts the checks, which run until the system stops. */
  public static void start(ActorSystem<?> system, Member member) {
    QuorumLog log =
        new QuorumLog(member.status(), () -> member.state().cluster(), System::nanoTime);
    system
        .scheduler()
        .scheduleWithFixedDelay(INTERVAL, INTERVAL, log::checkSafely, system.executionContext());
  }

  private void checkSafely() {
    try {
      check();
    } catch (RuntimeException between) {
      // The state is being replaced, for example. An exception would cancel the schedule.
      LOG.debug("skipped one check of the quorum", between);
    }
  }

  /** Compares the status with that of the last call. */
  void check() {
    ClusterView now = cluster.get();
    MemberNames.update(now);
    if (!status.leader().isNone()) {
      if (lost) {
        LOG.info(
            led ? "quorum restored leader-id={} took={}" : "quorum reached leader-id={} took={}",
            status.leader(),
            Duration.ofMillis((nanos.getAsLong() - sinceNanos) / 1_000_000));
      }
      led = true;
      lost = false;
      leaderless = false;
      return;
    }
    if (!leaderless) {
      leaderless = true;
      sinceNanos = nanos.getAsLong();
    }
    if (!lost) {
      logIfLost(now);
    }
  }

  private void logIfLost(ClusterView now) {
    Membership membership = now.membership();
    List<NodeId> missing = new ArrayList<>();
    for (NodeId voter : membership.voters()) {
      if (!status.isConnectedSince(voter, nanos.getAsLong())) {
        missing.add(voter);
      }
    }
    if (isMajority(membership.voters(), missing) && isMajority(membership.outgoing(), missing)) {
      return;
    }
    lost = true;
    List<String> described = missing.stream().map(id -> described(now, id)).toList();
    int connected = membership.voters().size() - missing.size();
    if (led) {
      LOG.error(
          "quorum lost, writes and linearizable reads fail until a majority of the voters is"
              + " connected; start the missing members or repair the network voters={}"
              + " connected={} missing={}",
          membership.voters().size(),
          connected,
          described);
    } else {
      LOG.warn(
          "waiting for a majority of the voters, start the missing members voters={} connected={}"
              + " missing={}",
          membership.voters().size(),
          connected,
          described);
    }
  }

  private static boolean isMajority(Set<NodeId> voters, List<NodeId> missing) {
    long present = voters.stream().filter(voter -> !missing.contains(voter)).count();
    return voters.isEmpty() || 2 * present > voters.size();
  }

  private static String described(ClusterView cluster, NodeId id) {
    MemberAttributes attributes = cluster.published().get(id);
    String name = attributes == null || attributes.name().isEmpty() ? "?" : attributes.name();
    return name
        + " ("
        + id
        + ", "
        + String.join(" ", cluster.peerUrls().getOrDefault(id, List.of()))
        + ")";
  }
}
