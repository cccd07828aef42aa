package io.troupe.node.backup;

import io.troupe.metrics.MemberMetrics;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupTarget;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ships the log at each tick unless the last run has not ended. On a thread of its own: a backup of
 * a large state does not delay it.
 */
final class LogSchedule implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(LogSchedule.class);

  private final LogShipper shipper;
  private final TargetJobs jobs;
  private final LongAdder failures = new LongAdder();

  LogSchedule(LogShipper shipper, TargetJobs jobs) {
    this.shipper = shipper;
    this.jobs = jobs;
  }

  /**
   * Shows the metrics of a member.
   *
   * @param schedule null: the log is not shipped, and the metrics are 0
   * @param interval from one tick to the next
   */
  static void register(@Nullable LogSchedule schedule, Duration interval, MemberMetrics metrics) {
    metrics.gauge(
        "troupe_backup_log_interval_seconds",
        "Time from one shipment of the log to the next; 0 if the log is not shipped.",
        () -> schedule == null ? 0 : interval.toMillis() / 1000.0);
    metrics.gauge(
        "troupe_backup_log_last_success_timestamp_seconds",
        "Unix time up to which this member has shipped the log to the target; 0 if it has not.",
        () -> schedule == null ? 0 : schedule.seconds());
    metrics.counter(
        "troupe_backup_log_failures_total",
        "Shipments of the log by this member that failed.",
        () -> schedule == null ? 0 : schedule.failures());
  }

  private double seconds() {
    Instant complete = shipper.complete();
    return complete == null ? 0 : complete.toEpochMilli() / 1000.0;
  }

  /** Number of runs that failed. */
  long failures() {
    return failures.sum();
  }

  /** Gives up a run that hangs, and starts the next one. */
  void tick() {
    jobs.check();
    boolean unused =
        jobs.start(
            new TargetJobs.Job() {
              @Override
              public void run(BackupTarget target) {
                shipper.ship(target);
              }

              @Override
              public void ended(@Nullable RuntimeException failure) {
                if (failure != null) {
                  failed(failure);
                }
              }
            });
  }

  private void failed(RuntimeException failure) {
    if (jobs.isClosed()) {
      LOG.debug("the log is not shipped any more, the member stops", failure);
      return;
    }
    failures.increment();
    boolean expected = failure instanceof BackupException || failure instanceof StoreException;
    LOG.error(
        "the log was not shipped to the backups, the next run tries again: {}",
        failure.getMessage(),
        expected ? null : failure);
  }

  @Override
  public void close() {
    jobs.close();
  }
}
