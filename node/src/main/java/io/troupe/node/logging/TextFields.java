package io.troupe.node.logging;

import ch.qos.logback.classic.pattern.ClassicConverter;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.troupe.model.GoDuration;
import java.time.Duration;
import java.util.List;
import org.slf4j.event.KeyValuePair;

/**
 * The key-value pairs of a text line, {@code key="value"} after a space each; nothing if there are
 * none. Durations are written as in etcd ({@code 3.2s}).
 */
final class TextFields extends ClassicConverter {
  @Override
  public String convert(ILoggingEvent event) {
    List<KeyValuePair> pairs = event.getKeyValuePairs();
    if (pairs == null) {
      return "";
    }
    StringBuilder out = new StringBuilder();
    for (KeyValuePair pair : pairs) {
      Object value = pair.value instanceof Duration took ? GoDuration.text(took) : pair.value;
      out.append(' ').append(pair.key).append("=\"").append(value).append('"');
    }
    return out.toString();
  }
}
