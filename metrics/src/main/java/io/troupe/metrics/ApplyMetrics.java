package io.troupe.metrics;

import io.prometheus.metrics.core.datapoints.DistributionDataPoint;
import io.prometheus.metrics.core.metrics.Histogram;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Metrics of applied entries. Thread-safe; no method blocks or allocates. */
public final class ApplyMetrics {
  /** Kinds of entries, with the values of the label {@code op}. */
  public enum Kind {
    /** A put. */
    PUT("Put"),
    /** A deletion. */
    DELETE_RANGE("DeleteRange"),
    /** A transaction. */
    TXN("Txn"),
    /** A compaction. */
    COMPACTION("Compaction"),
    /** A grant. */
    LEASE_GRANT("LeaseGrant"),
    /** A revoke, by a client or by expiry. */
    LEASE_REVOKE("LeaseRevoke"),
    /** A checkpoint of a lease. */
    LEASE_CHECKPOINT("LeaseCheckpoint"),
    /** Any alarm operation. */
    ALARM("Alarm"),
    /** Name and URLs of a member. */
    MEMBER("ClusterMemberAttrSet"),
    /** All other kinds. */
    OTHER("Other");

    private final String label;

    Kind(String label) {
      this.label = label;
    }
  }

  private record Durations(DistributionDataPoint done, DistributionDataPoint refused) {}

  private static final long SLOW_NANOS = 100_000_000;

  private final Map<Kind, Durations> durations = new EnumMap<>(Kind.class);
  private final LongAdder slow = new LongAdder();
  private final LongAdder puts = new LongAdder();
  private final LongAdder putBytes = new LongAdder();
  private final LongAdder deletes = new LongAdder();
  private final LongAdder txns = new LongAdder();
  private final LongAdder ranges = new LongAdder();
  private final LongAdder rangesInMemory = new LongAdder();
  private final LongAdder granted = new LongAdder();
  private final LongAdder revoked = new LongAdder();
  private final LongAdder expired = new LongAdder();
  private final Histogram ttl;

  ApplyMetrics(Families families) {
    Histogram apply =
        families.exponential(
            "etcd_server_apply_duration_seconds",
            "Time of applying one entry, in memory.",
            0.0001,
            2,
            20,
            "version",
            "op",
            "success");
    for (Kind kind : Kind.values()) {
      if (kind != Kind.OTHER) {
        durations.put(
            kind,
            new Durations(
                apply.labelValues("v3", kind.label, "true"),
                apply.labelValues("v3", kind.label, "false")));
      }
    }
    ttl =
        families.exponential(
            "etcd_debugging_lease_ttl_total", "Granted times of leases, in seconds.", 1, 2, 24);
    families.counterOf(
        "etcd_server_slow_apply_total", "Entries that took 100 ms or more to apply.", slow::sum);
    families.counterOf("etcd_mvcc_put_total", "Applied puts.", puts::sum);
    families.gaugeOf(
        "etcd_debugging_mvcc_total_put_size_in_bytes",
        "Bytes of keys and values of applied puts.",
        putBytes::sum);
    families.counterOf("etcd_mvcc_delete_total", "Applied deletions.", deletes::sum);
    families.counterOf(
        "etcd_mvcc_txn_total", "Applied transactions of more than one operation.", txns::sum);
    families.counterOf("etcd_mvcc_range_total", "Executed ranges.", ranges::sum);
    families.counterOf(
        "troupe_ranges_in_memory_total",
        "Serializable ranges of one key whose newest record was in memory.",
        rangesInMemory::sum);
    families.counterOf("etcd_debugging_lease_granted_total", "Granted leases.", granted::sum);
    families.counterOf(
        "etcd_debugging_lease_revoked_total", "Revoked or expired leases.", revoked::sum);
    families.counterOf(
        "etcd_debugging_server_lease_expired_total",
        "Expired leases that this member revoked as leader.",
        expired::sum);
  }

  /** An entry was applied. */
  public void applied(Kind kind, boolean success, long nanos) {
    if (nanos >= SLOW_NANOS) {
      slow.increment();
    }
    if (kind == Kind.OTHER) {
      return;
    }
    Durations of = Objects.requireNonNull(durations.get(kind));
    (success ? of.done() : of.refused()).observe(Seconds.of(nanos));
  }

  /** A put took effect. */
  public void put(long bytes) {
    puts.increment();
    putBytes.add(bytes);
  }

  /** A deletion took effect. */
  public void deleted() {
    deletes.increment();
  }

  /** A transaction of more than one operation ran. */
  public void txn() {
    txns.increment();
  }

  /** A range was read. */
  public void ranged() {
    ranges.increment();
  }

  /** A range of one key was read from memory alone. */
  public void rangedInMemory() {
    ranges.increment();
    rangesInMemory.increment();
  }

  /** A lease was granted. */
  public void leaseGranted(long ttlSeconds) {
    granted.increment();
    ttl.observe((double) ttlSeconds);
  }

  /** This member leads, and the revoke of an expired lease was applied. */
  public void leaseExpired() {
    expired.increment();
  }

  /** A lease was revoked. */
  public void leaseRevoked() {
    revoked.increment();
  }
}
