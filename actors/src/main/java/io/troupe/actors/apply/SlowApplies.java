package io.troupe.actors.apply;

import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.protocol.codec.OperationText;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the log of entries that took long to apply, in etcd's words. All that is applied waits
 * behind such an entry, so there cannot be many lines in a second.
 */
final class SlowApplies {
  private static final Logger LOG = LoggerFactory.getLogger(SlowApplies.class);

  private final Duration expected;
  private final long expectedNanos;

  SlowApplies(Duration expected) {
    this.expected = expected;
    this.expectedNanos = expected.toNanos();
  }

  /** An entry was applied. */
  void applied(Entry entry, Operation operation, Result result, long nanos) {
    if (nanos <= expectedNanos) {
      return;
    }
    LOG.warn(
        "apply request took too long took={} expected-duration={} index={} request={} refused={}",
        Duration.ofNanos(nanos),
        expected,
        entry.index(),
        OperationText.of(operation),
        result instanceof Result.Refused);
  }
}
