package io.troupe.node;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import org.slf4j.LoggerFactory;

/** Applies the configured level and form to Logback; both forms are declared in logback.xml. */
final class Logging {
  private Logging() {}

  static void configure(NodeSettings.Log settings) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    ch.qos.logback.classic.Logger root = context.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    root.setLevel(Level.toLevel(settings.level()));
    String unwanted = settings.format().equals("json") ? "text" : "json";
    Appender<ILoggingEvent> other = root.getAppender(unwanted);
    if (other != null) {
      root.detachAppender(other);
      other.stop();
    }
  }
}
