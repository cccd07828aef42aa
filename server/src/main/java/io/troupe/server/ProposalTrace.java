package io.troupe.server;

import io.troupe.metrics.LogRateLimit;
import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.model.RequestId;
import io.troupe.protocol.ProposeReply;
import io.troupe.protocol.codec.OperationCodec;
import io.troupe.protocol.codec.OperationText;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs the steps of a slow proposal, like etcd's traces: from 100 ms on, one line with the duration
 * of each step. A fast proposal costs one comparison.
 *
 * <ul>
 *   <li>{@code queue}: until the raft actor received it, including a wait for a leader
 *   <li>{@code agreement}: in the log and durable on a quorum
 *   <li>{@code apply}: in the state, after the entries that were committed before it
 *   <li>{@code answer}: the batch of entries is written, and the result is back here
 * </ul>
 */
final class ProposalTrace {
  /** etcd's threshold. */
  static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final Logger LOG = LoggerFactory.getLogger(ProposalTrace.class);

  private final Clock clock;
  private final LogRateLimit limit = new LogRateLimit(TimeUnit.MILLISECONDS.toNanos(100));

  ProposalTrace(Clock clock) {
    this.clock = clock;
  }

  /**
   * Completes the trace of a proposal.
   *
   * @param startNanos when it started, as {@link System#nanoTime}
   * @param endNanos now
   */
  void ended(
      RequestId id, Bytes operation, long startNanos, long endNanos, ProposeReply.Applied reply) {
    if (endNanos - startNanos < LONG_NANOS || reply.proposedNanos() == 0) {
      return;
    }
    long suppressed = limit.admit(endNanos);
    if (suppressed != LogRateLimit.SUPPRESSED) {
      log(
          id,
          OperationCodec.decode(operation).operation(),
          startNanos,
          endNanos,
          reply,
          suppressed);
    }
  }

  private void log(
      RequestId id,
      Operation operation,
      long startNanos,
      long endNanos,
      ProposeReply.Applied reply,
      long suppressed) {
    String trace = "trace[" + Long.toUnsignedString(id.value()) + "]";
    List<String> steps = new ArrayList<>();
    step(steps, trace, "queue", reply.proposedNanos() - startNanos);
    step(steps, trace, "agreement", reply.committedNanos() - reply.proposedNanos());
    step(steps, trace, "apply", reply.appliedNanos() - reply.committedNanos());
    step(steps, trace, "answer", endNanos - reply.appliedNanos());
    Duration took = Duration.ofNanos(endNanos - startNanos);
    Instant end = clock.instant();
    LOG.atLevel(Level.INFO)
        .setMessage(trace + " " + OperationText.name(operation))
        .addKeyValue("detail", OperationText.of(operation))
        .addKeyValue("index", reply.index())
        .addKeyValue("duration", took)
        .addKeyValue("start", end.minus(took))
        .addKeyValue("end", end)
        .addKeyValue("steps", steps)
        .addKeyValue("step_count", steps.size())
        .addKeyValue("suppressed", suppressed)
        .log();
  }

  private static void step(List<String> steps, String trace, String name, long nanos) {
    steps.add(trace + " '" + name + "' (duration: " + Math.round(nanos / 1e3) / 1e3 + "ms)");
  }
}
