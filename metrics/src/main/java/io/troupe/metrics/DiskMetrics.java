package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Histogram;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of the disk. Thread-safe; no method blocks or allocates. */
public final class DiskMetrics {
  private final Histogram walWrite;
  private final Histogram walSync;
  private final Histogram walBatch;
  private final Histogram storeWrite;
  private final Histogram snapshot;
  private final Histogram defragment;
  private final WalSyncs walSyncs = new WalSyncs();
  private final LongAdder walBytes = new LongAdder();
  private final LongAdder defragmenting = new LongAdder();
  private final WalProgress walProgress = new WalProgress();

  DiskMetrics(Families families) {
    walWrite =
        families.exponential(
            "etcd_disk_wal_write_duration_seconds",
            "Time of one write to the log, without forcing it.",
            0.001,
            2,
            14);
    walSync =
        families.exponential(
            "etcd_disk_wal_fsync_duration_seconds",
            "Time of one forced write of the log.",
            0.001,
            2,
            14);
    walBatch =
        families.exponential(
            "troupe_wal_batch_entries", "Log entries made durable by one forced write.", 1, 2, 14);
    storeWrite =
        families.exponential(
            "etcd_disk_backend_commit_duration_seconds",
            "Time of one atomic write to the state's store.",
            0.001,
            2,
            14);
    snapshot =
        families.exponential(
            "etcd_disk_backend_snapshot_duration_seconds",
            "Time of one checkpoint of the state.",
            .01,
            2,
            17);
    defragment =
        families.exponential(
            "etcd_disk_backend_defrag_duration_seconds",
            "Time of one full compaction of the state's store.",
            .1,
            2,
            13);
    families.gaugeOf(
        "etcd_disk_wal_write_bytes_total", "Bytes of entries written to the log.", walBytes::sum);
    families.gaugeOf(
        "troupe_wal_pending_seconds",
        "Age of the write or forced write of the log that the disk has not completed, else 0.",
        () -> Seconds.of(walProgress.pendingNanos(System.nanoTime())));
    families.gaugeOf(
        "etcd_disk_defrag_inflight",
        "1 while the state's store is fully compacted, else 0.",
        defragmenting::sum);
  }

  /** Entries were written to the log. */
  public void walWritten(long nanos, long bytes) {
    walWrite.observe(Seconds.of(nanos));
    walBytes.add(bytes);
  }

  /**
   * The written entries were forced. Times are of {@link System#nanoTime}.
   *
   * @param entries number of new entries
   * @param lastIndex index of the last new entry; meaningless if there is none
   */
  public void walSynced(long startNanos, long endNanos, long entries, long lastIndex) {
    walSync.observe(Seconds.of(endNanos - startNanos));
    walBatch.observe((double) entries);
    if (entries > 0) {
      walSyncs.add(lastIndex, startNanos, endNanos);
    }
  }

  /** The operation of the log that the disk executes now. */
  public WalProgress walProgress() {
    return walProgress;
  }

  /** The last forced writes. */
  public WalSyncs walSyncs() {
    return walSyncs;
  }

  /** A batch was written to the store. */
  public void storeWritten(long nanos) {
    storeWrite.observe(Seconds.of(nanos));
  }

  /** A checkpoint was created. */
  public void snapshotMade(long nanos) {
    snapshot.observe(Seconds.of(nanos));
  }

  /** Runs a full compaction and measures it. */
  public void defragment(Runnable work) {
    long start = System.nanoTime();
    defragmenting.increment();
    try {
      work.run();
      defragment.observe(Seconds.of(System.nanoTime() - start));
    } finally {
      defragmenting.decrement();
    }
  }
}
