package io.troupe.actors.peers;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;

/**
 * Warnings of what others can bring about as often as they like: one line a minute for each kind,
 * with the number of those that were passed over. Kinds are texts of this program, so they are few.
 * Thread-safe.
 */
final class RareLog {
  private static final Duration QUIET = Duration.ofMinutes(1);

  private static final class Kind {
    private long lastNanos;
    private long passedOver;
  }

  private final Logger log;
  private final Map<String, Kind> kinds = new HashMap<>();

  RareLog(Logger log) {
    this.log = log;
  }

  /** Says {@code what}, with {@code detail} of this one time. */
  void warn(String what, String detail) {
    warn(what, what, detail);
  }

  /** Says {@code what} for one of the kinds that share this text. */
  void warn(String kindOf, String what, String detail) {
    long now = System.nanoTime();
    long passedOver;
    synchronized (kinds) {
      Kind kind = kinds.get(kindOf);
      if (kind == null) {
        kind = new Kind();
        kinds.put(kindOf, kind);
      } else if (now - kind.lastNanos < QUIET.toNanos()) {
        kind.passedOver++;
        return;
      }
      passedOver = kind.passedOver;
      kind.passedOver = 0;
      kind.lastNanos = now;
    }
    if (passedOver == 0) {
      log.warn("{} {}", what, detail);
    } else {
      log.warn("{} {} times-before={}", what, detail, passedOver);
    }
  }
}
