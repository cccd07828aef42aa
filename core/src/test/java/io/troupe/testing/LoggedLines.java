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

/** Captures the lines that any thread logs during a test. */
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

  /** Lines of all loggers in this process, from now on. */
  public LoggedLines() {
    this(org.slf4j.Logger.ROOT_LOGGER_NAME);
  }

  /** Lines of a package or a class, from now on. */
  public LoggedLines(String name) {
    this((Logger) LoggerFactory.getLogger(name));
  }

  /** Lines of a class, from now on. */
  public LoggedLines(Class<?> of) {
    this(of.getName());
  }

  /** Lines of a class, from now on, at {@code level} and above. */
  public LoggedLines(Class<?> of, Level level) {
    this(of);
    logger.setLevel(level);
  }

  @Override
  protected void append(ILoggingEvent event) {
    lines.add(event);
  }

  /** Lines so far, in their order. */
  public List<ILoggingEvent> lines() {
    return List.copyOf(lines);
  }

  /** Lines so far, in their order, each as level and text. */
  public List<String> texts() {
    return lines.stream().map(line -> line.getLevel() + " " + line.getFormattedMessage()).toList();
  }

  /** The texts that contain the given text. */
  public List<String> with(String text) {
    return texts().stream().filter(line -> line.contains(text)).toList();
  }

  /** The key-value pairs of a line. */
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
