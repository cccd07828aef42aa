package io.troupe.actors.apply;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.troupe.model.Bytes;
import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class SlowAppliesTest {
  private static final Entry ENTRY = new Entry(1, 9, Entry.Kind.OPERATION, Bytes.EMPTY);
  private static final Operation COMPACT = new Operation.Compact(5);

  private final Logger logger = (Logger) LoggerFactory.getLogger(SlowApplies.class);
  private final ListAppender<ILoggingEvent> lines = new ListAppender<>();
  private final SlowApplies slow = new SlowApplies(Duration.ofMillis(100));

  @BeforeEach
  void listen() {
    lines.start();
    logger.addAppender(lines);
  }

  @AfterEach
  void stop() {
    logger.detachAppender(lines);
  }

  @Test
  void whatTakesLongerThanExpectedIsALine() {
    slow.applied(ENTRY, COMPACT, new Result.Done(1), Duration.ofMillis(100).toNanos());
    assertThat(lines.list).isEmpty();
    slow.applied(ENTRY, COMPACT, new Result.Done(1), Duration.ofMillis(101).toNanos());
    assertThat(lines.list).hasSize(1);
    assertThat(lines.list.get(0).getLevel()).isEqualTo(Level.WARN);
    assertThat(lines.list.get(0).getFormattedMessage())
        .isEqualTo(
            "apply request took too long took=PT0.101S expected-duration=PT0.1S index=9"
                + " request=compact revision:5 refused=false");
  }
}
