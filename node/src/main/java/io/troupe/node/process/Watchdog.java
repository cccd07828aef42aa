package io.troupe.node.process;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds systemd's watchdog ({@code WatchdogSec}) while the member makes progress: not while the
 * same write of the log or the same applied index is pending, or the raft actor does not run, from
 * one check to the next. systemd restarts a process that does not feed it for the whole limit
 * (docs/decisions/0230).
 */
public final class Watchdog implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Watchdog.class);

  /** Checks within the limit. A check that finds progress after one that did not is in time. */
  private static final int CHECKS = 4;

  private final SystemdNotifier systemd;
  private final Duration limit;
  private final Supplier<MemberProgress> progress;
  private MemberProgress last;
  private boolean stuck;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "watchdog");
            thread.setDaemon(true);
            return thread;
          });

  private Watchdog(SystemdNotifier systemd, Duration limit, Supplier<MemberProgress> progress) {
    this.systemd = systemd;
    this.limit = limit;
    this.progress = progress;
    this.last = progress.get();
  }

  /**
   * The time after which systemd restarts this process, if it does.
   *
   * @param environment variables of the process; WATCHDOG_USEC is in microseconds
   * @param pid of this process; WATCHDOG_PID may name another one
   */
  static Optional<Duration> limit(Map<String, String> environment, long pid) {
    String micros = environment.getOrDefault("WATCHDOG_USEC", "");
    String of = environment.getOrDefault("WATCHDOG_PID", "");
    if (micros.isEmpty() || (!of.isEmpty() && !of.equals(Long.toString(pid)))) {
      return Optional.empty();
    }
    if (!micros.matches("[1-9][0-9]{0,15}")) {
      LOG.warn(
          "ignored WATCHDOG_USEC, expected microseconds; the watchdog is off value={}", micros);
      return Optional.empty();
    }
    return Optional.of(Duration.ofNanos(Long.parseLong(micros) * 1_000));
  }

  /**
   * Starts to feed, if systemd expects it of this process.
   *
   * @param progress reads the member; must not block
   */
  public static void start(SystemdNotifier systemd, Supplier<MemberProgress> progress) {
    limit(System.getenv(), ProcessHandle.current().pid())
        .ifPresent(limit -> start(systemd, limit, progress));
  }

  static Watchdog start(
      SystemdNotifier systemd, Duration limit, Supplier<MemberProgress> progress) {
    Watchdog watchdog = new Watchdog(systemd, limit, progress);
    systemd.alive();
    long interval = Math.max(1, limit.toNanos() / CHECKS);
    // It never completes: a check that fails is logged.
    ScheduledFuture<?> unused =
        watchdog.timer.scheduleWithFixedDelay(
            watchdog::check, interval, interval, TimeUnit.NANOSECONDS);
    return watchdog;
  }

  private void check() {
    try {
      compare(progress.get());
    } catch (RuntimeException failure) {
      // The timer would stop without a line, and so would the beats.
      LOG.error(
          "cannot check the progress of this member, systemd restarts it after limit={}",
          limit,
          failure);
    }
  }

  private void compare(MemberProgress now) {
    List<String> reasons = now.stuckSince(last);
    last = now;
    if (reasons.isEmpty()) {
      if (stuck) {
        stuck = false;
        LOG.info("member makes progress again, feeding systemd's watchdog");
        systemd.status(SystemdNotifier.SERVING);
      }
      systemd.alive();
    } else if (!stuck) {
      stuck = true;
      String reason = String.join(", ", reasons);
      LOG.warn(
          "member makes no progress, systemd restarts it unless it continues within the limit"
              + " reason=\"{}\" limit={}",
          reason,
          limit);
      systemd.status("no progress: " + reason);
    }
  }

  @Override
  public void close() {
    timer.shutdownNow();
  }
}
