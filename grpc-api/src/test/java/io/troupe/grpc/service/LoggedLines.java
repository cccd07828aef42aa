package io.troupe.grpc.service;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.LoggerFactory;

/** What a class says in the log while a test looks. */
public final class LoggedLines implements AutoCloseable {
  private final Logger logger;
  private final ListAppender<ILoggingEvent> appender = new ListAppender<>();
  private final Level before;

  /** Looks from now on, at {@code level} and above. */
  public LoggedLines(Class<?> of, Level level) {
    this.logger = (Logger) LoggerFactory.getLogger(of);
    this.before = logger.getLevel();
    logger.setLevel(level);
    appender.start();
    logger.addAppender(appender);
  }

  /** Lines so far. */
  public List<ILoggingEvent> lines() {
    return List.copyOf(appender.list);
  }

  /** The pairs of a line. */
  public static Map<String, Object> pairs(ILoggingEvent line) {
    Map<String, Object> pairs = new LinkedHashMap<>();
    line.getKeyValuePairs().forEach(pair -> pairs.put(pair.key, pair.value));
    return pairs;
  }

  @Override
  public void close() {
    logger.detachAppender(appender);
    logger.setLevel(before);
  }
}
