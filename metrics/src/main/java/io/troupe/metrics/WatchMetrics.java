package io.troupe.metrics;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** Metrics of watches. Thread-safe; no method blocks or allocates. */
public final class WatchMetrics {
  private final LongAdder streams = new LongAdder();
  private final LongAdder synced = new LongAdder();
  private final LongAdder watchers = new LongAdder();
  private final LongAdder events = new LongAdder();
  private final LongAdder pending = new LongAdder();
  private final LongAdder missed = new LongAdder();
  private volatile LongSupplier backlogBytes = () -> 0;
  private volatile long backlogLimit;
  private volatile long revision;

  WatchMetrics(Families families) {
    families.gaugeOf("etcd_debugging_mvcc_watch_stream_total", "Open watch streams.", streams::sum);
    families.gaugeOf("etcd_debugging_mvcc_watcher_total", "Watchers.", watchers::sum);
    families.gaugeOf(
        "etcd_debugging_mvcc_slow_watcher_total",
        "Watchers that lag and read history.",
        () -> Math.max(0, watchers.sum() - synced.sum()));
    families.gaugeOf(
        "etcd_debugging_mvcc_pending_events_total",
        "Events that wait in streams for their clients.",
        pending::sum);
    families.counterOf(
        "etcd_debugging_mvcc_events_total", "Events sent to watchers in sync.", events::sum);
    families.gaugeOf(
        "troupe_watch_backlog_bytes",
        "Committed events that wait for the watch hub and its streams.",
        () -> backlogBytes.getAsLong());
    families.gaugeOf(
        "troupe_watch_backlog_limit_bytes",
        "Above this, watchers read events from history.",
        () -> backlogLimit);
    families.counterOf(
        "troupe_watch_missed_revisions_total",
        "Revisions that watchers in sync read from history because the backlog was full.",
        missed::sum);
  }

  /** A stream was opened (1) or closed (-1). */
  public void streams(int change) {
    streams.add(change);
  }

  /** Watchers were created (positive) or canceled (negative). */
  public void watchers(int change) {
    watchers.add(change);
  }

  /** Watchers caught up (positive), or started to lag or were closed (negative). */
  public void synced(int change) {
    synced.add(change);
  }

  /** More (positive) or fewer events wait in a stream. */
  public void pending(int change) {
    pending.add(change);
  }

  /** Events were sent to watchers. */
  public void events(long count) {
    events.add(count);
  }

  /** Revisions whose events were not passed to the hub. */
  public void missed(long count) {
    missed.add(count);
  }

  /** Registers the backlog of the hub that starts now. */
  public void backlog(LongSupplier bytes, long limit) {
    backlogBytes = bytes;
    backlogLimit = limit;
  }

  /** The hub has passed on all events up to this revision. */
  public void published(long upTo) {
    revision = upTo;
  }

  /** Revision up to which the hub has passed on all events. */
  public long revision() {
    return revision;
  }
}
