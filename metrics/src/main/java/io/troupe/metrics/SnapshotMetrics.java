package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.Gauge;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.concurrent.atomic.LongAdder;

/**
 * Metrics of snapshots: saves of this member's own state, and transfers between members. The series
 * of a member exist from its first transfer on, as in etcd. Thread-safe.
 */
public final class SnapshotMetrics {
  /** Transfers in one direction, by the other member's id. */
  private static final class Direction {
    private final Counter success;
    private final Counter failures;
    private final Gauge inflight;
    private final Histogram duration;

    /**
     * Families of one direction.
     *
     * @param name send or receive
     * @param did describes the transfer in help texts: "sent to" or "received from"
     */
    Direction(Families families, Families bare, String name, String did, String label) {
      String prefix = "etcd_network_snapshot_" + name;
      success = bare.counter(prefix + "_success", "Snapshots " + did + " a member.", label);
      failures =
          bare.counter(
              prefix + "_failures", "Snapshots that could not be " + did + " a member.", label);
      inflight =
          families.gauge(
              prefix + "_inflights_total", "Snapshots that are being " + did + " a member.", label);
      duration =
          families.exponential(
              prefix + "_total_duration_seconds", "Duration of a transfer.", 0.1, 2, 10, label);
    }

    void started(long member) {
      inflight.labelValues(Long.toHexString(member)).inc();
    }

    void done(long member, long nanos) {
      String id = Long.toHexString(member);
      inflight.labelValues(id).dec();
      success.labelValues(id).inc();
      duration.labelValues(id).observe(Seconds.of(nanos));
    }

    void gaveUp(long member) {
      inflight.labelValues(Long.toHexString(member)).dec();
      refused(member);
    }

    void refused(long member) {
      failures.labelValues(Long.toHexString(member)).inc();
    }
  }

  private final Direction send;
  private final Direction receive;
  private final Histogram receivedForced;
  private final Histogram received;
  private final Histogram saveForced;
  private final Histogram saveSummed;
  private final Histogram saved;
  private final LongAdder saveFailures = new LongAdder();
  private volatile long newestIndex;
  private volatile boolean installing;
  private volatile Retained retained = new Retained(0, 0, 0);

  private record Retained(long snapshots, long lagging, long receivers) {}

  SnapshotMetrics(Families families, Families bare) {
    send = new Direction(families, bare, "send", "sent to", "To");
    receive = new Direction(families, bare, "receive", "received from", "From");
    receivedForced =
        families.exponential(
            "etcd_snap_db_fsync_duration_seconds",
            "Duration of the forced write of one received file.",
            0.001,
            2,
            14);
    received =
        families.exponential(
            "etcd_snap_db_save_total_duration_seconds",
            "Time until a received snapshot was complete and durable.",
            0.1,
            2,
            10);
    saveForced =
        families.exponential(
            "etcd_snap_fsync_duration_seconds",
            "Time that a save of this member's own snapshot spent in forced writes.",
            0.001,
            2,
            14);
    saveSummed =
        families.exponential(
            "etcd_debugging_snap_save_marshalling_duration_seconds",
            "Time that a save spent on checksums and the manifest's bytes.",
            0.001,
            2,
            14);
    saved =
        families.exponential(
            "etcd_debugging_snap_save_total_duration_seconds",
            "Time of a save, from the finished checkpoint to the durable manifest.",
            0.001,
            2,
            14);
    families.gaugeOf(
        "etcd_server_snapshot_apply_in_progress_total",
        "1 while another member's snapshot replaces the state, else 0.",
        () -> installing ? 1 : 0);
    families.gaugeOf(
        "troupe_snapshot_index",
        "Index of the newest snapshot of this member, 0 without one.",
        () -> newestIndex);
    families.counterOf(
        "troupe_snapshot_save_failures_total",
        "Own snapshots that could not be saved.",
        saveFailures::sum);
    families.gaugesOf(
        "troupe_wal_retained_bytes",
        "Bytes of log below the newest snapshot that stay on disk, by the first reason.",
        target -> {
          Retained now = retained;
          target.value((double) now.snapshots(), "snapshots");
          target.value((double) now.lagging(), "lagging");
          target.value((double) now.receivers(), "receivers");
        },
        "reason");
  }

  /**
   * Sets the size of the log below the newest snapshot that stays on disk, in bytes.
   *
   * @param snapshots for the older snapshots
   * @param lagging additionally, for followers that lag a little
   * @param receivers additionally, for followers that receive a snapshot, until they have caught up
   */
  public void logRetained(long snapshots, long lagging, long receivers) {
    retained = new Retained(snapshots, lagging, receivers);
  }

  /** A transfer to a member started; {@link #sent} or {@link #notSent} completes it. */
  public void sending(long to) {
    send.started(to);
  }

  /** The member has received the snapshot. */
  public void sent(long to, long nanos) {
    send.done(to, nanos);
  }

  /** A started transfer was stopped, by either side. */
  public void notSent(long to) {
    send.gaveUp(to);
  }

  /** A transfer to a member could not start. */
  public void sendRefused(long to) {
    send.refused(to);
  }

  /** A transfer from a member started; {@link #received} or {@link #notReceived} completes it. */
  public void receiving(long from) {
    receive.started(from);
  }

  /** The snapshot is complete and durable. */
  public void received(long from, long nanos) {
    receive.done(from, nanos);
    received.observe(Seconds.of(nanos));
  }

  /** A started transfer was stopped or replaced by another one. */
  public void notReceived(long from) {
    receive.gaveUp(from);
  }

  /** An offer of a member was refused. */
  public void receiveRefused(long from) {
    receive.refused(from);
  }

  /** One received file was forced. */
  public void fileForced(long nanos) {
    receivedForced.observe(Seconds.of(nanos));
  }

  /**
   * A snapshot of this member's own state was saved.
   *
   * @param summedNanos time for checksums and the bytes of the manifest
   * @param forcedNanos time in forced writes
   * @param totalNanos total time
   */
  public void saved(long summedNanos, long forcedNanos, long totalNanos) {
    saveSummed.observe(Seconds.of(summedNanos));
    saveForced.observe(Seconds.of(forcedNanos));
    saved.observe(Seconds.of(totalNanos));
  }

  /** Index of the newest snapshot on disk, 0 if there is none. */
  public void newest(long index) {
    newestIndex = index;
  }

  /** A snapshot of this member's own state could not be saved. */
  public void saveFailed() {
    saveFailures.increment();
  }

  /** True while another member's snapshot replaces the state of this one. */
  public boolean isInstalling() {
    return installing;
  }

  /** Another member's snapshot starts to replace the state of this one, or has finished. */
  public void installing(boolean now) {
    installing = now;
  }
}
