package io.troupe.node;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Marker;

/**
 * Keeps out of the log what the HTTP layer says of bytes that are no request: a line for each,
 * often with a stack trace, with which any client could fill a disk. To see them sets the level to
 * debug.
 */
final class MalformedRequestLogFilter extends TurboFilter {
  /** Of streams that end with a failure; their stages are named. */
  private static final String STREAMS = "org.apache.pekko.actor.RepointableActorRef";

  /** Of the actor system; the HTTP layer has no logger of its own. */
  private static final String SYSTEM = "org.apache.pekko.actor.ActorSystemImpl";

  /** A stage that failed in the middle of its work may fail once more when it ends. */
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
