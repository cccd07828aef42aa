package io.troupe.node.backup;

import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.snapshot.DiskCapacity;
import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.metrics.MemberMetrics;
import io.troupe.mvcc.FrozenHistory;
import io.troupe.mvcc.StoreException;
import io.troupe.mvcc.StoreView;
import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupManifest;
import io.troupe.persistence.backup.BackupTarget;
import io.troupe.persistence.backup.DirectoryTarget;
import io.troupe.protocol.MemberStatus;
import io.troupe.server.BackupRequests;
import io.troupe.server.WrittenBackup;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a backup of the state when the newest one in the target is as old as the interval, and on
 * request. All members of a cluster have the same target and schedule; the leader writes. After a
 * failure the next check tries again. Threads of its own: a slow target delays nothing else.
 */
public final class BackupSchedule implements BackupRequests, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(BackupSchedule.class);

  /** Longest time between two checks. */
  private static final Duration CHECK = Duration.ofMinutes(1);

  private static final int CHECKS_IN_INTERVAL = 4;

  private final BackupSettings settings;
  private final BackupWriter writer;
  private final BackupSource source;
  private final TargetJobs jobs;

  /** Null if the log is not shipped. */
  private final @Nullable LogSchedule log;

  private final LongAdder failures = new LongAdder();

  /** Starts and gives up jobs; never blocks on the target. */
  private final ScheduledExecutorService clockThread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread made = new Thread(task, "backup-clock");
            made.setDaemon(true);
            return made;
          });

  /** The next backup on request, which all requests share that arrive before it begins. */
  private @Nullable CompletableFuture<BackupManifest> asked;

  BackupSchedule(
      BackupSettings settings,
      BackupWriter writer,
      BackupSource source,
      TargetJobs jobs,
      @Nullable LogSchedule log) {
    this.log = log;
    this.settings = settings;
    this.writer = writer;
    this.source = source;
    this.jobs = jobs;
  }

  /**
   * Starts the schedule of a member, and shows its metrics.
   *
   * @param settings empty: there are no backups, and the metrics are 0
   * @param disk of the state
   * @param wal reads the log of the member
   * @return null without settings
   */
  public static @Nullable BackupSchedule start(
      Optional<BackupSettings> settings,
      MemberFiles files,
      MemberStatus status,
      DiskCapacity disk,
      WalEntries wal) {
    BackupSchedule schedule =
        settings.map(present -> of(present, files, status, disk, wal)).orElse(null);
    register(schedule, files.metrics());
    LogSchedule.register(
        schedule == null ? null : schedule.log,
        settings.map(BackupSettings::logInterval).orElse(Duration.ZERO),
        files.metrics());
    if (schedule != null) {
      schedule.begin();
    }
    return schedule;
  }

  private static BackupSchedule of(
      BackupSettings settings,
      MemberFiles files,
      MemberStatus status,
      DiskCapacity disk,
      WalEntries wal) {
    long cluster = files.identity().clusterId();
    BackupSource source =
        new BackupSource(
            files.dataDir().snapshots().resolve("backup"),
            directory -> files.store().checkpoint(directory),
            () -> files.store().unwrittenBytes() <= disk.freeBytes(),
            cluster,
            files.identity().memberId().value(),
            Instant::now);
    Clock clock = Clock.systemUTC();
    LogShipper shipper = new LogShipper(cluster, status, () -> position(files), wal, clock);
    LogSchedule log =
        settings.shipsLog() ? new LogSchedule(shipper, jobs("backup-log", settings)) : null;
    BackupWriter writer = new BackupWriter(settings, source, status, shipper::begins, clock);
    return new BackupSchedule(settings, writer, source, jobs("backup", settings), log);
  }

  private static FrozenHistory position(MemberFiles files) {
    try (StoreView view = files.store().freeze()) {
      return FrozenHistory.of(view);
    }
  }

  private static TargetJobs jobs(String name, BackupSettings settings) {
    return new TargetJobs(
        name, new DirectoryTarget(settings.directory()), settings.stallTimeout(), System::nanoTime);
  }

  private static void register(@Nullable BackupSchedule schedule, MemberMetrics metrics) {
    metrics.gauge(
        "troupe_backup_interval_seconds",
        "Time from one backup to the next; 0 without a schedule.",
        () -> schedule == null ? 0 : schedule.settings.interval().toMillis() / 1000.0);
    metrics.gauge(
        "troupe_backup_last_success_timestamp_seconds",
        "Unix time of the newest backup of this cluster in the target; 0 if there is none.",
        () -> schedule == null ? 0 : seconds(schedule.writer.newest()));
    metrics.counter(
        "troupe_backup_failures_total",
        "Backups of this member that failed.",
        () -> schedule == null ? 0 : schedule.failures());
  }

  private static double seconds(@Nullable Instant time) {
    return time == null ? 0 : time.toEpochMilli() / 1000.0;
  }

  /** Number of backups and checks that failed. */
  long failures() {
    return failures.sum();
  }

  private void begin() {
    long shortest = Math.min(settings.interval().toMillis(), settings.stallTimeout().toMillis());
    every(Math.min(CHECK.toMillis(), shortest / CHECKS_IN_INTERVAL), this::tick);
    LogSchedule shipped = log;
    if (shipped != null) {
      every(settings.logInterval().toMillis(), shipped::tick);
    }
    LOG.info(
        "backups are scheduled directory={} interval={} keep={} log-interval={}",
        settings.directory(),
        settings.interval(),
        settings.keep(),
        settings.logInterval());
  }

  private void every(long millis, Runnable tick) {
    ScheduledFuture<?> unused =
        clockThread.scheduleWithFixedDelay(tick, millis, millis, TimeUnit.MILLISECONDS);
  }

  /** Gives up a job that hangs, and starts the next one. */
  void tick() {
    jobs.check();
    if (!jobs.isBusy()) {
      CompletableFuture<BackupManifest> request = takeRequest();
      if (!jobs.start(request == null ? new Check() : new OnRequest(request)) && request != null) {
        request.completeExceptionally(new BackupException("the member stops"));
      }
    }
  }

  private synchronized @Nullable CompletableFuture<BackupManifest> takeRequest() {
    CompletableFuture<BackupManifest> taken = asked;
    asked = null;
    return taken;
  }

  /** {@link #request} for clients: a failure is a status whose text is for the operator. */
  @Override
  public CompletionStage<WrittenBackup> write() {
    return request()
        .handle(
            (written, failure) -> {
              if (failure != null) {
                throw new GrpcException(GrpcStatus.INTERNAL, "backup failed: " + reason(failure));
              }
              return new WrittenBackup(
                  written.id(),
                  written.time(),
                  written.revision(),
                  written.index(),
                  written.bytes(),
                  settings.directory().toString());
            });
  }

  private static String reason(Throwable failure) {
    Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
    return cause == null ? failure.toString() : String.valueOf(cause.getMessage());
  }

  /**
   * Writes a backup that contains everything that was acknowledged before this call. While another
   * one is written, all requests share the next one.
   *
   * @return fails with a {@link BackupException}, whose text is for the operator, or with an
   *     exception of the state
   */
  CompletionStage<BackupManifest> request() {
    String hanging = jobs.hangsWhile();
    if (hanging != null) {
      return CompletableFuture.failedFuture(
          new BackupException(
              "the target does not respond: an earlier backup hangs while " + hanging));
    }
    CompletableFuture<BackupManifest> shared;
    synchronized (this) {
      if (asked == null) {
        asked = new CompletableFuture<>();
      }
      shared = asked;
    }
    soon();
    return shared.minimalCompletionStage();
  }

  /** Ticks at once, for a request. */
  private void soon() {
    try {
      clockThread.execute(this::tick);
    } catch (RejectedExecutionException closed) {
      failRequest("the member stops");
    }
  }

  private void failRequest(String reason) {
    CompletableFuture<BackupManifest> waiting = takeRequest();
    if (waiting != null) {
      waiting.completeExceptionally(new BackupException(reason));
    }
  }

  /** Counts and logs what the schedule itself must not throw: that would end it. */
  private void failed(RuntimeException failure) {
    if (jobs.isClosed()) {
      LOG.debug("backup abandoned, the member stops", failure);
      return;
    }
    failures.increment();
    boolean expected =
        failure instanceof BackupException
            || failure instanceof StoreException
            || failure instanceof UncheckedIOException;
    LOG.error(
        "backup failed, the next check tries again: {}",
        failure.getMessage(),
        expected ? null : failure);
  }

  /** After a job. A job that was given up may keep its files open, but not its checkpoint. */
  private void ended(@Nullable RuntimeException failure) {
    if (failure != null) {
      failed(failure);
    }
    if (jobs.hangsWhile() != null) {
      failRequest("the target does not respond");
      try {
        source.discard();
      } catch (UncheckedIOException e) {
        LOG.error("{}", e.getMessage());
      }
    } else if (isAsked()) {
      soon();
    }
  }

  private synchronized boolean isAsked() {
    return asked != null;
  }

  private final class Check implements TargetJobs.Job {
    @Override
    public void run(BackupTarget target) {
      writer.writeIfDue(target);
    }

    @Override
    public void ended(@Nullable RuntimeException failure) {
      BackupSchedule.this.ended(failure);
    }
  }

  private final class OnRequest implements TargetJobs.Job {
    private final CompletableFuture<BackupManifest> request;
    private volatile @Nullable BackupManifest written;

    OnRequest(CompletableFuture<BackupManifest> request) {
      this.request = request;
    }

    @Override
    public void run(BackupTarget target) {
      written = writer.write(target);
      writer.retain(target);
    }

    @Override
    public void ended(@Nullable RuntimeException failure) {
      BackupSchedule.this.ended(failure);
      BackupManifest result = written;
      if (result != null) {
        // It exists, even if an older one could not be deleted.
        request.complete(result);
      } else {
        request.completeExceptionally(
            failure == null ? new BackupException("the backup was abandoned") : failure);
      }
    }
  }

  /** Writes no more backups. A backup in progress is abandoned: it has no manifest. */
  @Override
  public void close() {
    jobs.close();
    LogSchedule shipped = log;
    if (shipped != null) {
      shipped.close();
    }
    clockThread.shutdownNow();
    failRequest("the member stops");
  }
}
