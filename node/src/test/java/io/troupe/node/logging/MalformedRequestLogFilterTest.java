package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.spi.FilterReply;
import org.junit.jupiter.api.Test;

/**
 * The filter of log lines about malformed requests. {@code ClientPortMalformedIT} checks the log of
 * a whole member.
 */
class MalformedRequestLogFilterTest {
  private static final String STREAMS = "org.apache.pekko.actor.RepointableActorRef";

  private final LoggerContext context = new LoggerContext();

  private FilterReply of(String logger, String format, Object... params) {
    return new MalformedRequestLogFilter()
        .decide(null, context.getLogger(logger), Level.WARN, format, params, null);
  }

  @Test
  void failuresOfOtherStreamsAreLogged() {
    context.getLogger("org.apache.pekko").setLevel(Level.WARN);
    assertThat(of(STREAMS, "Error in stage [org.apache.pekko.http.impl.Parser]: truncated"))
        .isEqualTo(FilterReply.DENY);
    assertThat(of(STREAMS, "Error during postStop in [org.apache.pekko.http.impl.Demux]: running"))
        .isEqualTo(FilterReply.DENY);
    assertThat(of(STREAMS, "Error in stage [io.troupe.edge.jsongateway.JsonBody]: broken"))
        .isEqualTo(FilterReply.NEUTRAL);
    assertThat(
            of(STREAMS, "Error during postStop in [io.troupe.edge.jsongateway.JsonBody]: broken"))
        .isEqualTo(FilterReply.NEUTRAL);
    assertThat(of("org.apache.pekko.actor.ActorSystemImpl", "{}", "Illegal request, responding"))
        .isEqualTo(FilterReply.DENY);
    assertThat(of("org.apache.pekko.actor.ActorSystemImpl", "{}", "Uncaught error"))
        .isEqualTo(FilterReply.NEUTRAL);
    assertThat(of("io.troupe.node.NodeMain", "Illegal request")).isEqualTo(FilterReply.NEUTRAL);
  }

  @Test
  void debugLevelLogsAllFailures() {
    context.getLogger("org.apache.pekko").setLevel(Level.DEBUG);
    assertThat(of(STREAMS, "Error in stage [org.apache.pekko.http.impl.Parser]: truncated"))
        .isEqualTo(FilterReply.NEUTRAL);
  }
}
