package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of consensus, from the gateway and the raft actor. Thread-safe; no method blocks. */
public final class RaftMetrics {
  private static final long SLOW_READ_NANOS = 1_000_000_000;

  private final LongAdder leaderChanges = new LongAdder();
  private final LongAdder pending = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder readsFailed = new LongAdder();
  private final LongAdder readsSlow = new LongAdder();
  private final LongAdder lateHeartbeats = new LongAdder();
  private volatile long ticks;
  private final Counter promoted;
  private final Counter notPromoted;

  RaftMetrics(Families families, Families bare) {
    families.counterOf(
        "etcd_server_leader_changes_seen_total",
        "Number of leader changes that this member learned of.",
        leaderChanges::sum);
    families.gaugeOf(
        "etcd_server_proposals_pending", "Proposals that wait for their reply.", pending::sum);
    families.counterOf(
        "etcd_server_proposals_failed_total",
        "Proposals that were not applied or timed out.",
        failed::sum);
    families.counterOf(
        "etcd_server_read_indexes_failed_total", "Failed read index rounds.", readsFailed::sum);
    families.counterOf(
        "etcd_server_slow_read_indexes_total",
        "Read index rounds that took a second or more.",
        readsSlow::sum);
    families.counterOf(
        "etcd_server_heartbeat_send_failures_total",
        "Heartbeats that this member, as leader, sent more than two intervals after the previous ones.",
        lateHeartbeats::sum);
    promoted =
        bare.counter(
            "etcd_server_learner_promote_successes",
            "Learners promoted while this member was leader.");
    notPromoted =
        bare.counter(
            "etcd_server_learner_promote_failures",
            "Promotions refused while this member was leader.",
            "Reason");
  }

  /** This member learned of a new leader. */
  public void leaderChanged() {
    leaderChanges.increment();
  }

  /** A proposal was sent to the raft actor. */
  public void proposed() {
    pending.increment();
  }

  /**
   * A proposal finished.
   *
   * @param applied false if it was lost, refused by the raft actor, or timed out
   */
  public void proposalEnded(boolean applied) {
    pending.decrement();
    if (!applied) {
      failed.increment();
    }
  }

  /** The raft actor handled a tick. Called by its thread only. */
  public void ticked() {
    long next = ticks + 1;
    ticks = next;
  }

  /** Ticks that the raft actor handled in this run of the process. */
  public long ticks() {
    return ticks;
  }

  /** Heartbeats were sent late, one to each of this number of members. */
  public void heartbeatsLate(int members) {
    lateHeartbeats.add(members);
  }

  /** A learner was promoted to a voter. */
  public void promoted() {
    promoted.inc();
  }

  /**
   * A promotion failed.
   *
   * @param reason one of a bounded number of texts
   */
  public void notPromoted(String reason) {
    notPromoted.labelValues(reason).inc();
  }

  /** A read index round finished. */
  public void readIndexed(long nanos, boolean success) {
    if (!success) {
      readsFailed.increment();
    } else if (nanos >= SLOW_READ_NANOS) {
      readsSlow.increment();
    }
  }
}
