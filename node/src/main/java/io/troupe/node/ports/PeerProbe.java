package io.troupe.node.ports;

import io.troupe.metrics.PeerMetrics;
import io.troupe.model.NodeId;
import io.troupe.protocol.PeerQueries;
import io.troupe.protocol.PeerQuery;
import io.troupe.raft.membership.Membership;
import io.troupe.server.Member;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.pekko.actor.typed.ActorSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends a small query to each other member every few seconds, for the metrics of round-trip times
 * and active peers.
 */
public final class PeerProbe {
  private static final Logger LOG = LoggerFactory.getLogger(PeerProbe.class);
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  private final Member member;
  private final PeerQueries queries;
  private final Duration timeout;
  private final PeerMetrics metrics;
  private final Map<NodeId, Boolean> answering = new ConcurrentHashMap<>();
  private final Map<NodeId, LongAdder> losses = new ConcurrentHashMap<>();

  private PeerProbe(Member member, PeerQueries queries, Duration timeout) {
    this.member = member;
    this.queries = queries;
    this.timeout = timeout;
    this.metrics = member.metrics().peers();
  }

  /**
   * Starts the probe, which runs until the system stops.
   *
   * @param timeout of one query
   */
  public static void start(
      ActorSystem<?> system, Member member, PeerQueries queries, Duration timeout) {
    PeerProbe probe = new PeerProbe(member, queries, timeout);
    probe.register();
    system
        .scheduler()
        .scheduleWithFixedDelay(
            Duration.ofMillis(200), INTERVAL, probe::askAll, system.executionContext());
  }

  private void register() {
    String local = member.status().memberId().toString();
    String[] labels = {"Local", "Remote"};
    member
        .metrics()
        .gauges(
            "etcd_network_known_peers",
            "Known members, including this one; 0 for removed members.",
            target -> {
              Membership membership = member.state().cluster().membership();
              membership.removed().forEach(id -> target.value(0, local, id.toString()));
              membership.members().forEach(id -> target.value(1, local, id.toString()));
            },
            labels);
    member
        .metrics()
        .gauges(
            "etcd_network_active_peers",
            "Whether another member replied to the last query.",
            target -> answering.forEach((id, ok) -> target.value(ok ? 1 : 0, local, id.toString())),
            labels);
    member
        .metrics()
        .counters(
            "etcd_network_disconnected_peers_total",
            "How often another member stopped replying.",
            target ->
                losses.forEach(
                    (id, count) -> target.value((double) count.sum(), local, id.toString())),
            labels);
  }

  private Map<NodeId, List<String>> others() {
    Map<NodeId, List<String>> all = new TreeMap<>(member.state().cluster().peerUrls());
    all.remove(member.status().memberId());
    return all;
  }

  private void askAll() {
    try {
      Map<NodeId, List<String>> others = others();
      answering.keySet().retainAll(others.keySet());
      others.forEach(
          (id, urls) ->
              urls.stream().min(Comparator.naturalOrder()).ifPresent(url -> ask(id, url)));
    } catch (RuntimeException between) {
      // The state is being replaced, for example. An exception would cancel the schedule.
      LOG.debug("skipped one round of peer queries", between);
    }
  }

  private void ask(NodeId id, String url) {
    metrics.known(id.value());
    losses.computeIfAbsent(id, first -> new LongAdder());
    long startNanos = System.nanoTime();
    queries
        .ask(url, PeerQuery.MembersQuery.INSTANCE, timeout)
        .whenComplete(
            (answer, failure) -> {
              if (failure == null) {
                metrics.roundTrip(id.value(), System.nanoTime() - startNanos);
              } else {
                metrics.sendFailed(id.value());
              }
              Boolean before = answering.put(id, failure == null);
              if (failure != null && Boolean.TRUE.equals(before)) {
                losses.get(id).increment();
              }
            });
  }
}
