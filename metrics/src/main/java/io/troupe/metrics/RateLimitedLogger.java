package io.troupe.metrics;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * Logs warnings that other processes can cause at any rate: one line a minute for each kind, with
 * the number of suppressed lines. Kinds are texts of this program, so their number is bounded.
 * Thread-safe.
 */
public final class RateLimitedLogger {
  private static final Duration INTERVAL = Duration.ofMinutes(1);

  private final Logger log;
  private final Map<String, LogRateLimit> limits = new ConcurrentHashMap<>();

  /** Creates a logger that writes to {@code log}. */
  public RateLimitedLogger(Logger log) {
    this.log = log;
  }

  /**
   * Logs {@code what}, which is also the kind.
   *
   * @param detail appended; describes this one event
   */
  public void warn(String what, String detail) {
    warn(what, what, detail);
  }

  /**
   * Logs {@code what} for one of the kinds that share this text.
   *
   * @param kind the lines of one kind share one limit
   * @param detail appended; describes this one event
   */
  public void warn(String kind, String what, String detail) {
    long suppressed =
        limits
            .computeIfAbsent(kind, unused -> new LogRateLimit(INTERVAL.toNanos()))
            .admit(System.nanoTime());
    if (suppressed == 0) {
      log.warn("{} {}", what, detail);
    } else if (suppressed != LogRateLimit.SUPPRESSED) {
      log.warn("{} {} suppressed={}", what, detail, suppressed);
    }
  }
}
