package io.troupe.node.logging;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * Suppresses the log lines of the HTTP layer about malformed requests: one line for each, often
 * with a stack trace, with which any client could fill a disk. Set the log level to debug to see
 * them.
 */
final class MalformedRequestLogFilter extends TurboFilter {
  /** Logger of streams that fail; the lines name the stages. */
  private static final String STREAMS = "org.apache.pekko.actor.RepointableActorRef";

  /** Logger of the actor system; the HTTP layer has no logger of its own. */
  private static final String SYSTEM = "org.apache.pekko.actor.ActorSystemImpl";

  /** A stage that failed may fail again when it stops. */
  private static final List<String> HTTP_STAGE =
      List.of(
          "Error in stage [org.apache.pekko.http.impl.",
          "Error during postStop in [org.apache.pekko.http.impl.");

  private static final List<String> HTTP_TEXTS =
      List.of("Illegal request", "Illegal header", "HTTP2 connection failed");

  @Override
  public FilterReply decide(
      @Nullable Marker marker,
      Logger logger,
      Level level,
      @Nullable String format,
      Object @Nullable [] params,
      @Nullable Throwable thrown) {
    boolean streams = logger.getName().equals(STREAMS);
    if (!streams && !logger.getName().equals(SYSTEM)) {
      return FilterReply.NEUTRAL;
    }
    String text = params != null && params.length > 0 ? String.valueOf(params[0]) : format;
    if (text == null || logger.isDebugEnabled()) {
      return FilterReply.NEUTRAL;
    }
    boolean noise = (streams ? HTTP_STAGE : HTTP_TEXTS).stream().anyMatch(text::startsWith);
    return noise ? FilterReply.DENY : FilterReply.NEUTRAL;
  }
}
