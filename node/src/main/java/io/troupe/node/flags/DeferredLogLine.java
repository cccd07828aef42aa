package io.troupe.node.flags;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A log line of the flags, which are read before the log is configured.
 *
 * @param isWarning true for level warn, false for info
 * @param text without the fields
 * @param fields in their order
 */
public record DeferredLogLine(boolean isWarning, String text, Map<String, String> fields) {
  /** Copies. */
  public DeferredLogLine {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  static DeferredLogLine info(String text) {
    return new DeferredLogLine(false, text, Map.of());
  }

  static DeferredLogLine warning(String text) {
    return new DeferredLogLine(true, text, Map.of());
  }

  /** Returns the same line with one more field. */
  DeferredLogLine with(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(fields);
    more.put(key, value);
    return new DeferredLogLine(isWarning, text, more);
  }
}
