package io.troupe.node.backup;

import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.metrics.MemberMetrics;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.Backups;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.protocol.MemberStatus;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a backup of the state when the newest one in the target is as old as the interval. All
 * members of a cluster have the same target and schedule; the leader writes. After a failure the
 * next check tries again. One thread of its own: a slow target delays nothing else.
 */
public final class BackupSchedule implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BackupSchedule.class);

  /** Longest time between two checks. */
  private static final Duration CHECK = Duration.ofMinutes(1);

  private static final int CHECKS_IN_INTERVAL = 4;

  private final BackupSettings settings;
  private final Backups backups;
  private final BackupSource source;
  private final MemberStatus status;
  private final Clock clock;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "backups");
            made.setDaemon(true);
            return made;
          });

  /** When the newest backup of this cluster in the target was written, as of the last check. */
  private volatile @Nullable Instant newest;

  private final LongAdder failures = new LongAdder();

  BackupSchedule(
      BackupSettings settings,
      Backups backups,
      BackupSource source,
      MemberStatus status,
      Clock clock) {
    this.settings = settings;
    this.backups = backups;
    this.source = source;
    this.status = status;
    this.clock = clock;
  }

  /**
   * Starts the schedule of a member, and shows its metrics.
   *
   * @param settings empty: there are no backups, and the metrics are 0
   * @param disk of the state
   * @return null without settings
   */
  public static @Nullable BackupSchedule start(
      Optional<BackupSettings> settings,
      MemberFiles files,
      MemberStatus status,
      DiskCapacity disk) {
    BackupSchedule schedule =
        settings.map(present -> of(present, files, status, disk)).orElse(null);
    register(schedule, files.metrics());
    if (schedule != null) {
      schedule.begin();
    }
    return schedule;
  }

  private static BackupSchedule of(
      BackupSettings settings, MemberFiles files, MemberStatus status, DiskCapacity disk) {
    BackupSource source =
        new BackupSource(
            files.dataDir().snapshots().resolve("backup"),
            directory -> files.store().checkpoint(directory),
            () -> files.store().unwrittenBytes() <= disk.freeBytes(),
            files.identity().clusterId(),
            files.identity().memberId().value(),
            Instant::now);
    Backups backups = new Backups(new DirectoryTarget(settings.directory()));
    return new BackupSchedule(settings, backups, source, status, Clock.systemUTC());
  }

  private static void register(@Nullable BackupSchedule schedule, MemberMetrics metrics) {
    metrics.gauge(
        "troupe_backup_interval_seconds",
        "Time from one backup to the next; 0 without a schedule.",
        () -> schedule == null ? 0 : schedule.settings.interval().toMillis() / 1000.0);
    metrics.gauge(
        "troupe_backup_last_success_timestamp_seconds",
        "Unix time of the newest backup of this cluster in the target; 0 if there is none.",
        () -> schedule == null ? 0 : schedule.newestSeconds());
    metrics.counter(
        "troupe_backup_failures_total",
        "Backups of this member that failed.",
        () -> schedule == null ? 0 : schedule.failures.sum());
  }

  private double newestSeconds() {
    Instant known = newest;
    return known == null ? 0 : known.toEpochMilli() / 1000.0;
  }

  private void begin() {
    long ms = Math.min(CHECK.toMillis(), settings.interval().toMillis() / CHECKS_IN_INTERVAL);
    ScheduledFuture<?> unused =
        thread.scheduleWithFixedDelay(this::checkSafely, ms, ms, TimeUnit.MILLISECONDS);
    LOG.info(
        "backups are scheduled directory={} interval={} keep={}",
        settings.directory(),
        settings.interval(),
        settings.keep());
  }

  private void checkSafely() {
    try {
      check();
    } catch (RuntimeException failed) {
      if (thread.isShutdown()) {
        LOG.debug("backup abandoned, the member stops", failed);
        return;
      }
      failures.increment();
      boolean expected =
          failed instanceof BackupException
              || failed instanceof StoreException
              || failed instanceof UncheckedIOException;
      // Not thrown: that would end the schedule.
      LOG.error(
          "backup failed, the next check tries again: {}",
          failed.getMessage(),
          expected ? null : failed);
    }
  }

  /**
   * Writes a backup if one is due and this member leads.
   *
   * @throws BackupException if the target cannot be read or written
   */
  void check() {
    newest = newestOfCluster();
    Instant before = newest;
    boolean due = before == null || !clock.instant().isBefore(before.plus(settings.interval()));
    if (!due || status.leader().isNone() || !status.leader().equals(status.memberId())) {
      return;
    }
    long startNanos = System.nanoTime();
    BackupManifest written = source.use(backups::write);
    newest = written.time();
    LOG.info(
        "wrote backup id={} revision={} index={} bytes={} took={}",
        written.id(),
        written.revision(),
        written.index(),
        written.bytes(),
        Duration.ofMillis((System.nanoTime() - startNanos) / 1_000_000));
    for (String id : backups.retain(source.cluster(), settings.keep())) {
      LOG.info("deleted old backup id={}", id);
    }
  }

  private @Nullable Instant newestOfCluster() {
    return backups.list().stream()
        .filter(backup -> backup.cluster() == source.cluster())
        .map(BackupManifest::time)
        .findFirst()
        .orElse(null);
  }

  /** Writes no more backups. A backup in progress is abandoned: it has no manifest. */
  @Override
  public void close() {
    thread.shutdownNow();
  }
}
