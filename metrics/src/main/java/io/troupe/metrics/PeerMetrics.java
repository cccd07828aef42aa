package io.troupe.metrics;

import io.prometheus.metrics.core.datapoints.CounterDataPoint;
import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Traffic with other members, by member id. Thread-safe. */
public final class PeerMetrics {
  private record Series(
      CounterDataPoint sentBytes,
      CounterDataPoint sendFailures,
      CounterDataPoint receivedBytes,
      DistributionDataPoint roundTrip) {}

  private final Counter sentBytes;
  private final Counter sendFailures;
  private final Counter receivedBytes;
  private final Counter receiveFailures;
  private final Counter dropped;
  private final Histogram roundTrip;
  private final Map<Long, Series> peers = new ConcurrentHashMap<>();

  PeerMetrics(Families families) {
    sentBytes =
        families.counter("etcd_network_peer_sent_bytes_total", "Bytes sent to a member.", "To");
    sendFailures =
        families.counter(
            "etcd_network_peer_sent_failures_total",
            "Messages to a member that could not be sent, and queries to it without a reply.",
            "To");
    receivedBytes =
        families.counter(
            "etcd_network_peer_received_bytes_total", "Bytes received from a member.", "From");
    receiveFailures =
        families.counter(
            "etcd_network_peer_received_failures_total",
            "Messages of a member that could not be decoded.",
            "From");
    dropped =
        families.counter(
            "troupe_peer_backlog_dropped_total",
            "Messages of members dropped because the backlog of an actor is full.",
            "room");
    roundTrip =
        families.exponential(
            "etcd_network_peer_round_trip_time_seconds",
            "Time from a query to a member until its reply.",
            0.0001,
            2,
            16,
            "To");
  }

  private Series of(long member) {
    Series known = peers.get(member);
    return known != null ? known : peers.computeIfAbsent(member, this::series);
  }

  private Series series(long member) {
    String id = Long.toHexString(member);
    return new Series(
        sentBytes.labelValues(id),
        sendFailures.labelValues(id),
        receivedBytes.labelValues(id),
        roundTrip.labelValues(id));
  }

  /** Shows zeros for a member before its first message. */
  public void known(long member) {
    of(member);
  }

  /** A message was sent. */
  public void sent(long to, long bytes) {
    of(to).sentBytes().inc(bytes);
  }

  /** A message could not be sent, or a query got no reply. */
  public void sendFailed(long to) {
    of(to).sendFailures().inc();
  }

  /** A message was received. */
  public void received(long from, long bytes) {
    of(from).receivedBytes().inc(bytes);
  }

  /** A message of a member could not be decoded. */
  public void receiveFailed(long from) {
    receiveFailures.labelValues(Long.toHexString(from)).inc();
  }

  /** A message without a readable sender could not be decoded. */
  public void receiveFailed() {
    receiveFailures.labelValues("unknown").inc();
  }

  /** A message was dropped because the backlog of that actor is full. */
  public void dropped(String actor) {
    dropped.labelValues(actor).inc();
  }

  /** A query got its reply. */
  public void roundTrip(long to, long nanos) {
    of(to).roundTrip().observe(Seconds.of(nanos));
  }
}
