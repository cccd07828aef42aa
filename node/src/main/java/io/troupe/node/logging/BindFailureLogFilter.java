package io.troupe.node.logging;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * Drops Pekko's line with a stack trace about an address that cannot be bound: the member logs the
 * setting and the reason when it stops. Other lines of that logger stay.
 */
final class BindFailureLogFilter extends TurboFilter {
  private static final String LISTENER = "org.apache.pekko.io.TcpListener";
  private static final String TEXT = "Bind failed for TCP channel";

  @Override
  public FilterReply decide(
      @Nullable Marker marker,
      Logger logger,
      Level level,
      @Nullable String format,
      Object @Nullable [] params,
      @Nullable Throwable thrown) {
    if (!logger.getName().equals(LISTENER) || logger.isDebugEnabled()) {
      return FilterReply.NEUTRAL;
    }
    String text = params != null && params.length > 0 ? String.valueOf(params[0]) : format;
    return text != null && text.startsWith(TEXT) ? FilterReply.DENY : FilterReply.NEUTRAL;
  }
}
