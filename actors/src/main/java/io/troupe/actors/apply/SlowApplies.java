package io.troupe.actors.apply;

import io.troupe.model.Entry;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.protocol.codec.OperationText;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs entries that took long to apply, with etcd's text. All later entries wait for such an entry,
 * so the number of lines per second is bounded.
 */
final class SlowApplies {
  private static final Logger LOG = LoggerFactory.getLogger(SlowApplies.class);

  private final Duration expected;
  private final long expectedNanos;

  SlowApplies(Duration expected) {
    this.expected = expected;
    this.expectedNanos = expected.toNanos();
  }

  /** Logs the entry if it took longer than expected. */
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
