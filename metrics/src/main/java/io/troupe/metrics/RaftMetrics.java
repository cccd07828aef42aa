package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import java.util.concurrent.atomic.LongAdder;

/** What the gateway and the raft actor see of consensus. Thread-safe; nothing here waits. */
public final class RaftMetrics {
  private static final long SLOW_READ_NANOS = 1_000_000_000;

  private final LongAdder leaderChanges = new LongAdder();
  private final LongAdder pending = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder readsFailed = new LongAdder();
  private final LongAdder readsSlow = new LongAdder();
  private final LongAdder lateHeartbeats = new LongAdder();
  private final Counter promoted;
  private final Counter notPromoted;

  RaftMetrics(Families families, Families bare) {
    families.counterOf(
        "etcd_server_leader_changes_seen_total",
        "How often this member learned of another leader.",
        leaderChanges::sum);
    families.gaugeOf(
        "etcd_server_proposals_pending", "Proposals that wait for their answer.", pending::sum);
    families.counterOf(
        "etcd_server_proposals_failed_total",
        "Proposals that were not applied, or not in time.",
        failed::sum);
    families.counterOf(
        "etcd_server_read_indexes_failed_total",
        "Read index rounds that failed.",
        readsFailed::sum);
    families.counterOf(
        "etcd_server_slow_read_indexes_total",
        "Read index rounds that took a second or more.",
        readsSlow::sum);
    families.counterOf(
        "etcd_server_heartbeat_send_failures_total",
        "Heartbeats that this member, leading, sent more than two intervals after the last ones.",
        lateHeartbeats::sum);
    promoted =
        bare.counter(
            "etcd_server_learner_promote_successes",
            "Learners that were promoted while this member led.");
    notPromoted =
        bare.counter(
            "etcd_server_learner_promote_failures",
            "Promotions that were refused while this member led.",
            "Reason");
  }

  /** Another leader than before became known. */
  public void leaderChanged() {
    leaderChanges.increment();
  }

  /** A proposal goes to the raft actor. */
  public void proposed() {
    pending.increment();
  }

  /**
   * A proposal came to its end.
   *
   * @param applied false if it was lost, refused by the raft actor, or not answered in time
   */
  public void proposalEnded(boolean applied) {
    pending.decrement();
    if (!applied) {
      failed.increment();
    }
  }

  /** Heartbeats went out late, one to each of so many members. */
  public void heartbeatsLate(int members) {
    lateHeartbeats.add(members);
  }

  /** A learner became a voter. */
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

  /** A read index round came to its end. */
  public void readIndexed(long nanos, boolean success) {
    if (!success) {
      readsFailed.increment();
    } else if (nanos >= SLOW_READ_NANOS) {
      readsSlow.increment();
    }
  }
}
