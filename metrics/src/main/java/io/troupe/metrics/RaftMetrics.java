package io.troupe.metrics;

import java.util.concurrent.atomic.LongAdder;

/** What the gateway and the raft room see of consensus. Thread-safe; nothing here waits. */
public final class RaftMetrics {
  private static final long SLOW_READ_NANOS = 1_000_000_000;

  private final LongAdder leaderChanges = new LongAdder();
  private final LongAdder pending = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder readsFailed = new LongAdder();
  private final LongAdder readsSlow = new LongAdder();

  RaftMetrics(Families families) {
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
  }

  /** Another leader than before became known. */
  public void leaderChanged() {
    leaderChanges.increment();
  }

  /** A proposal goes to the raft room. */
  public void proposed() {
    pending.increment();
  }

  /**
   * A proposal came to its end.
   *
   * @param applied false if it was lost, refused by the raft room, or not answered in time
   */
  public void proposalEnded(boolean applied) {
    pending.decrement();
    if (!applied) {
      failed.increment();
    }
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
