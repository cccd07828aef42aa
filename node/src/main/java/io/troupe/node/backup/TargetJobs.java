package io.troupe.node.backup;

import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupTarget;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs jobs on a target, one at a time, on a thread of its own. A job without progress is given up:
 * its owner learns of it at once. The thread cannot be taken back from a call that hangs, so the
 * next job starts when that call ends: at most one thread is stuck. Thread-safe.
 */
final class TargetJobs implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(TargetJobs.class);

  private final String name;
  private final BackupTarget target;
  private final Duration stallTimeout;
  private final LongSupplier nanoTime;
  private final ExecutorService thread;
  private final AtomicReference<@Nullable Attempt> current = new AtomicReference<>();

  /**
   * Creates an idle instance.
   *
   * @param name of the thread, for example {@code backup}
   * @param stallTimeout a job without progress for this long has failed
   * @param nanoTime as {@link System#nanoTime}
   */
  TargetJobs(String name, BackupTarget target, Duration stallTimeout, LongSupplier nanoTime) {
    this.name = name;
    this.target = target;
    this.stallTimeout = stallTimeout;
    this.nanoTime = nanoTime;
    this.thread =
        Executors.newSingleThreadExecutor(
            task -> {
              Thread made = new Thread(task, name);
              made.setDaemon(true);
              return made;
            });
  }

  /** Something to do on a target. */
  interface Job {
    /**
     * Does it. May block.
     *
     * @param target of this job alone
     */
    void run(BackupTarget target);

    /**
     * Called once: when {@link #run} has ended, or when it was given up and may still run.
     *
     * @param failure null after success
     */
    void ended(@Nullable RuntimeException failure);
  }

  private final class Attempt implements Runnable {
    private final Job job;
    private final WatchedTarget watched = new WatchedTarget(target, nanoTime);
    private final AtomicBoolean reported = new AtomicBoolean();
    private volatile @Nullable Thread runner;

    Attempt(Job job) {
      this.job = job;
    }

    @Override
    public void run() {
      runner = Thread.currentThread();
      RuntimeException failure = null;
      try {
        job.run(watched);
      } catch (RuntimeException failed) {
        failure = failed;
      } finally {
        runner = null;
        current.set(null);
        if (reported.compareAndSet(false, true)) {
          job.ended(failure);
        } else {
          LOG.info("{}: the call that hung has ended, the next one may start", name);
        }
      }
    }

    private void giveUp() {
      if (!reported.compareAndSet(false, true)) {
        return;
      }
      String call = watched.call();
      watched.giveUp();
      Thread running = runner;
      if (running != null) {
        running.interrupt();
      }
      job.ended(
          new BackupException(
              "no progress for "
                  + stallTimeout
                  + " (backup.stall-timeout) while "
                  + call
                  + " in "
                  + target.text()
                  + "; the next one starts when that call ends"));
    }
  }

  /**
   * Starts a job. To be called by the thread that calls {@link #check}.
   *
   * @return false if another one runs or hangs, or after {@link #close}
   */
  boolean start(Job job) {
    Attempt attempt = new Attempt(job);
    if (isClosed() || !current.compareAndSet(null, attempt)) {
      return false;
    }
    thread.execute(attempt);
    return true;
  }

  /** Gives the job up if it makes no progress. To be called often. */
  void check() {
    Attempt running = current.get();
    if (running != null && running.watched.stalledNanos() >= stallTimeout.toNanos()) {
      running.giveUp();
    }
  }

  /** True while a job runs or hangs. */
  boolean isBusy() {
    return current.get() != null;
  }

  /** What a job that was given up still waits for; null if there is none. */
  @Nullable String hangsWhile() {
    Attempt running = current.get();
    return running != null && running.reported.get() ? running.watched.call() : null;
  }

  /** True when no job reports any more. */
  boolean isClosed() {
    return thread.isShutdown();
  }

  /** Gives up the job; it reports when it ends. */
  @Override
  public void close() {
    thread.shutdownNow();
    Attempt running = current.get();
    if (running != null) {
      running.watched.giveUp();
    }
  }
}
