package io.troupe.node.tracing;

import io.troupe.metrics.LogRateLimit;
import java.time.Duration;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What OpenTelemetry's library complains about becomes a line of the log, one in a minute at most:
 * a collector that is away is nothing to fill a log with. The library logs with java.util.logging,
 * whose own lines would go to standard error.
 */
final class LibraryLog extends Handler {
  private static final Logger LOG = LoggerFactory.getLogger(LibraryLog.class);

  /** Held here, because loggers without a reference are collected with their settings. */
  private static final java.util.logging.Logger LIBRARY =
      java.util.logging.Logger.getLogger("io.opentelemetry");

  private final LogRateLimit limit;

  /**
   * A handler.
   *
   * @param interval least time between two lines
   */
  LibraryLog(Duration interval) {
    this.limit = new LogRateLimit(interval.toNanos());
  }

  /** From now on the library's complaints come here, for the whole process. */
  static synchronized void install() {
    for (Handler handler : LIBRARY.getHandlers()) {
      if (handler instanceof LibraryLog) {
        return;
      }
    }
    LIBRARY.setUseParentHandlers(false);
    LIBRARY.setLevel(Level.WARNING);
    LIBRARY.addHandler(new LibraryLog(Duration.ofMinutes(1)));
  }

  @Override
  public void publish(LogRecord complaint) {
    long suppressed = limit.admit(System.nanoTime());
    if (suppressed == LogRateLimit.SUPPRESSED) {
      return;
    }
    Throwable thrown = complaint.getThrown();
    LOG.atWarn()
        .setMessage("traces cannot be exported, they are dropped")
        .addKeyValue("reason", complaint.getMessage())
        .addKeyValue("cause", thrown == null ? "" : thrown.toString())
        .addKeyValue("suppressed", suppressed)
        .log();
  }

  @Override
  public void flush() {
    // Nothing is kept.
  }

  @Override
  public void close() {
    // Nothing is held.
  }
}
