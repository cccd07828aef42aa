package io.troupe.node.logging;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.LoggingEvent;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.slf4j.event.KeyValuePair;

class TextFieldsTest {
  private final LoggingEvent event = new LoggingEvent();

  @Test
  void durationsAreReadable() {
    event.addKeyValuePair(new KeyValuePair("time spent", Duration.ofNanos(453_081_215)));
    event.addKeyValuePair(new KeyValuePair("code", 4));
    assertThat(new TextFields().convert(event))
        .isEqualTo(" time spent=\"453.081215ms\" code=\"4\"");
  }

  @Test
  void lineWithoutFieldsHasNoSpace() {
    assertThat(new TextFields().convert(event)).isEmpty();
  }
}
