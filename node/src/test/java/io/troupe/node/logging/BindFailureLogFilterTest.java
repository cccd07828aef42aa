package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.core.spi.FilterReply;
import java.net.BindException;
import org.junit.jupiter.api.Test;

class BindFailureLogFilterTest {
  private static final String LISTENER = "org.apache.pekko.io.TcpListener";
  private static final String FAILED = "Bind failed for TCP channel on endpoint [/127.0.0.1:1]";

  private final LoggerContext context = new LoggerContext();

  private FilterReply of(String logger, String format, Object... params) {
    return new BindFailureLogFilter()
        .decide(
            null, context.getLogger(logger), Level.ERROR, format, params, new BindException("x"));
  }

  @Test
  void onlyBindFailuresOfTheListenerAreDropped() {
    context.getLogger("org.apache.pekko").setLevel(Level.WARN);
    assertThat(of(LISTENER, FAILED)).isEqualTo(FilterReply.DENY);
    assertThat(of(LISTENER, "{}", FAILED)).isEqualTo(FilterReply.DENY);
    assertThat(of(LISTENER, "Accept error: could not accept new connection"))
        .isEqualTo(FilterReply.NEUTRAL);
    assertThat(of("io.troupe.node.NodeMain", FAILED)).isEqualTo(FilterReply.NEUTRAL);
  }

  @Test
  void debugLevelLogsBindFailures() {
    context.getLogger("org.apache.pekko").setLevel(Level.DEBUG);
    assertThat(of(LISTENER, FAILED)).isEqualTo(FilterReply.NEUTRAL);
  }
}
