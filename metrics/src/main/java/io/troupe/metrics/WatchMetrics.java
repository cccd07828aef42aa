package io.troupe.metrics;

import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/** What watches do. Thread-safe; nothing here waits or allocates. */
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
    families.gaugeOf(
        "etcd_debugging_mvcc_watch_stream_total", "Watch streams that are open.", streams::sum);
    families.gaugeOf("etcd_debugging_mvcc_watcher_total", "Watchers.", watchers::sum);
    families.gaugeOf(
        "etcd_debugging_mvcc_slow_watcher_total",
        "Watchers that read history because they are behind.",
        () -> Math.max(0, watchers.sum() - synced.sum()));
    families.gaugeOf(
        "etcd_debugging_mvcc_pending_events_total",
        "Events that wait in streams until their clients take more.",
        pending::sum);
    families.counterOf(
        "etcd_debugging_mvcc_events_total", "Events told to watchers in sync.", events::sum);
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

  /** A stream opened (1) or ended (-1). */
  public void streams(int change) {
    streams.add(change);
  }

  /** Watchers were created (positive) or canceled (negative). */
  public void watchers(int change) {
    watchers.add(change);
  }

  /** Watchers caught up (positive), or fell behind or ended (negative). */
  public void synced(int change) {
    synced.add(change);
  }

  /** More (positive) or fewer events wait in a stream. */
  public void pending(int change) {
    pending.add(change);
  }

  /** Events left for watchers. */
  public void events(long count) {
    events.add(count);
  }

  /** Revisions whose events were not handed to the hub. */
  public void missed(long count) {
    missed.add(count);
  }

  /** The backlog of the hub that starts now. */
  public void backlog(LongSupplier bytes, long limit) {
    backlogBytes = bytes;
    backlogLimit = limit;
  }

  /** Up to which revision the hub has told everything. */
  public void told(long upTo) {
    revision = upTo;
  }

  /** Up to which revision the hub has told everything. */
  public long revision() {
    return revision;
  }
}
