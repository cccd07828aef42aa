package io.troupe.metrics;

import io.prometheus.metrics.core.metrics.Histogram;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/** Metrics of maintenance: compactions and hashes. Thread-safe. */
public final class UpkeepMetrics {
  private final LongAdder removed = new LongAdder();
  private final Histogram step;
  private final Histogram compaction;
  private final Histogram hash;
  private final Histogram hashOfRevision;
  private volatile long lastCompactionSeconds;

  UpkeepMetrics(Families families) {
    families.counterOf(
        "etcd_debugging_mvcc_db_compaction_keys_total",
        "Versions of keys that compactions removed.",
        removed::sum);
    families.gaugeOf(
        "etcd_debugging_mvcc_db_compaction_last",
        "Unix time of the end of the last compaction; 0 after a start.",
        () -> lastCompactionSeconds);
    step =
        families.exponential(
            "etcd_debugging_mvcc_db_compaction_pause_duration_milliseconds",
            "Time of one step of a compaction; no request waits for it.",
            1,
            2,
            13);
    compaction =
        families.exponential(
            "etcd_debugging_mvcc_db_compaction_total_duration_milliseconds",
            "Time of a compaction with the pauses between its steps.",
            100,
            2,
            14);
    hash =
        families.exponential(
            "etcd_mvcc_hash_duration_seconds", "Time of a hash for Hash.", .01, 2, 15);
    hashOfRevision =
        families.exponential(
            "etcd_mvcc_hash_rev_duration_seconds",
            "Time of a hash of a revision, for HashKV and comparisons with other members.",
            .01,
            2,
            15);
  }

  /** One step of a compaction removed this number of versions. */
  public void compactionStep(long versions, long nanos) {
    removed.add(versions);
    step.observe(milliseconds(nanos));
  }

  /**
   * A compaction finished.
   *
   * @param unixSeconds current time
   */
  public void compacted(long nanos, long unixSeconds) {
    compaction.observe(milliseconds(nanos));
    lastCompactionSeconds = unixSeconds;
  }

  private static double milliseconds(long nanos) {
    return nanos / 1e6;
  }

  /** Computes a hash for Hash. A failed computation is not counted. */
  public <T> T hash(Supplier<T> work) {
    return measured(hash, work);
  }

  /** Computes a hash of a revision. A failed computation is not counted. */
  public <T> T hashOfRevision(Supplier<T> work) {
    return measured(hashOfRevision, work);
  }

  private static <T> T measured(Histogram times, Supplier<T> work) {
    long start = System.nanoTime();
    T made = work.get();
    times.observe(Seconds.of(System.nanoTime() - start));
    return made;
  }
}
