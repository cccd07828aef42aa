package io.troupe.node.flags;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A line for the log, which is not there yet while flags are read.
 *
 * @param isWarning else it is at info
 * @param text without the fields
 * @param fields in their order
 */
public record Notice(boolean isWarning, String text, Map<String, String> fields) {
  /** Copies. */
  public Notice {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  static Notice info(String text) {
    return new Notice(false, text, Map.of());
  }

  static Notice warning(String text) {
    return new Notice(true, text, Map.of());
  }

  /** The same with one more field. */
  Notice with(String key, String value) {
    Map<String, String> more = new LinkedHashMap<>(fields);
    more.put(key, value);
    return new Notice(isWarning, text, more);
  }
}
