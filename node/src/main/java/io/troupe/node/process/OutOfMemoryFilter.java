package io.troupe.node.process;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * Ends the process when an OutOfMemoryError is about to be logged. The JVM's own options detect an
 * exhausted heap (bin/node), but neither failed buffers outside the heap nor threads that cannot
 * start. Such a failure can hit any thread, a library may catch it, and the member would continue
 * without that thread's work. The code that catches it logs it; Pekko does so for its dispatchers.
 */
public final class OutOfMemoryFilter extends TurboFilter {
  private final Consumer<Throwable> ending;
  private final AtomicBoolean ended = new AtomicBoolean();

  /**
   * Creates a filter.
   *
   * @param ending called once, before the line is written; its own lines pass the filter
   */
  OutOfMemoryFilter(Consumer<Throwable> ending) {
    this.ending = ending;
  }

  /** Installs the filter for all loggers of the process. */
  public static void endWith(ProcessExit ending) {
    LoggerContext context = (LoggerContext) LoggerFactory.getILoggerFactory();
    context.addTurboFilter(new OutOfMemoryFilter(ending::end));
  }

  @Override
  public FilterReply decide(
      @Nullable Marker marker,
      Logger logger,
      Level level,
      @Nullable String format,
      Object @Nullable [] params,
      @Nullable Throwable thrown) {
    Throwable failure = thrown == null ? lastOf(params) : thrown;
    if (failure != null && ProcessExit.isOutOfMemory(failure) && ended.compareAndSet(false, true)) {
      ending.accept(failure);
    }
    return FilterReply.NEUTRAL;
  }

  /** Returns the throwable if it is the last of the parameters. */
  private static @Nullable Throwable lastOf(Object @Nullable [] params) {
    return params != null
            && params.length > 0
            && params[params.length - 1] instanceof Throwable last
        ? last
        : null;
  }
}
