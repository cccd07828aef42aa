package io.troupe.node.tracing;

import io.troupe.metrics.LogRateLimit;
import java.time.Duration;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Forwards warnings of the OpenTelemetry library to the log, at most one per interval: an
 * unreachable collector must not fill the log. The library uses java.util.logging, whose lines
 * would go to standard error.
 */
final class LibraryLog extends Handler {
  private static final Logger LOG = LoggerFactory.getLogger(LibraryLog.class);

  /**
   * A strong reference, because the garbage collector removes unreferenced loggers with their
   * settings.
   */
  private static final java.util.logging.Logger LIBRARY =
      java.util.logging.Logger.getLogger("io.opentelemetry");

  private final LogRateLimit limit;

  /**
   * Creates a handler.
   *
   * @param interval minimum time between two lines
   */
  LibraryLog(Duration interval) {
    this.limit = new LogRateLimit(interval.toNanos());
  }

  /** Installs the handler for the whole process. */
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
    // Nothing is buffered.
  }

  @Override
  public void close() {
    // No resources.
  }
}
