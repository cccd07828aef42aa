package io.troupe.testing;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** What is logged while a test looks, by whatever thread. */
public final class LoggedLines extends AppenderBase<ILoggingEvent> implements AutoCloseable {
  private final Queue<ILoggingEvent> lines = new ConcurrentLinkedQueue<>();
  private final Logger logger;
  private final @Nullable Level before;

  private LoggedLines(Logger logger) {
    this.logger = logger;
    this.before = logger.getLevel();
    setContext(logger.getLoggerContext());
    start();
    logger.addAppender(this);
  }

  /** Of everybody in this process, from now on. */
  public LoggedLines() {
    this(org.slf4j.Logger.ROOT_LOGGER_NAME);
  }

  /** Of a package or a class, from now on. */
  public LoggedLines(String name) {
    this((Logger) LoggerFactory.getLogger(name));
  }

  /** Of a class, from now on. */
  public LoggedLines(Class<?> of) {
    this(of.getName());
  }

  /** Of a class, from now on, at {@code level} and above. */
  public LoggedLines(Class<?> of, Level level) {
    this(of);
    logger.setLevel(level);
  }

  @Override
  protected void append(ILoggingEvent event) {
    lines.add(event);
  }

  /** So far, in their order. */
  public List<ILoggingEvent> lines() {
    return List.copyOf(lines);
  }

  /** So far, in their order, each as level and text. */
  public List<String> texts() {
    return lines.stream().map(line -> line.getLevel() + " " + line.getFormattedMessage()).toList();
  }

  /** The texts that contain another one. */
  public List<String> with(String text) {
    return texts().stream().filter(line -> line.contains(text)).toList();
  }

  /** The pairs of a line. */
  public static Map<String, Object> pairs(ILoggingEvent line) {
    Map<String, Object> pairs = new LinkedHashMap<>();
    line.getKeyValuePairs().forEach(pair -> pairs.put(pair.key, pair.value));
    return pairs;
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    logger.setLevel(before);
    stop();
  }
}
