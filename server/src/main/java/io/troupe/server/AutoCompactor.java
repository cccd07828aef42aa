package io.troupe.server;

import io.troupe.grpc.api.CompactionRequest;
import io.troupe.model.Bytes;
import io.troupe.model.NodeId;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.codec.OperationCodec;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.concurrent.ExecutionContext;

/** Runs automatic compaction on the leader (AC3). Thread-safe. */
final class AutoCompactor {
  private static final Logger LOG = LoggerFactory.getLogger(AutoCompactor.class);

  private final Member member;
  private final Proposer proposer;
  private final AutoCompaction rule;
  private final LongSupplier clockMs;
  private boolean running;

  /**
   * Creates a compactor.
   *
   * @param clockMs the clock of the rule; monotonic
   */
  AutoCompactor(Member member, Proposer proposer, AutoCompaction rule, LongSupplier clockMs) {
    this.member = member;
    this.proposer = proposer;
    this.rule = rule;
    this.clockMs = clockMs;
  }

  /** Checks the rule once per interval until the scheduler stops. */
  void start() {
    member
        .scheduler()
        .scheduleWithFixedDelay(
            rule.initialDelay(),
            rule.interval(),
            this::check,
            ExecutionContext.fromExecutor(member.reads().points()));
  }

  /** Checks the rule once; the next check repeats what failed. */
  synchronized void check() {
    try {
      compactIfDue();
    } catch (RuntimeException failure) {
      // A scheduled task that throws is never run again.
      LOG.warn("auto compaction check failed reason={}", failure.toString());
    }
  }

  private void compactIfDue() {
    NodeId self = member.status().memberId();
    boolean leads = member.status().leader().equals(self) && !running;
    OptionalLong due = rule.due(clockMs.getAsLong(), member.state().revision(), leads);
    if (due.isPresent()) {
      compact(due.getAsLong());
    }
  }

  private void compact(long revision) {
    running = true;
    LOG.info("starting auto compaction revision={}", revision);
    CompletionStage<Result> compacting;
    try {
      compacting =
          proposer.propose(
              OperationCodec.ClientRequest.COMPACT,
              Bytes.wrap(
                  CompactionRequest.newBuilder().setRevision(revision).build().toByteArray()));
    } catch (RefusedException refused) {
      ended(revision, refused);
      return;
    }
    compacting.whenComplete((done, failure) -> ended(revision, failure));
  }

  private synchronized void ended(long revision, @Nullable Throwable failure) {
    running = false;
    Throwable cause =
        failure instanceof CompletionException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    boolean already =
        cause instanceof RefusedException refused && refused.reason() == Refusal.COMPACTED;
    if (cause == null || already) {
      rule.compacted(clockMs.getAsLong(), revision);
      LOG.info("completed auto compaction revision={}", revision);
    } else {
      LOG.warn("auto compaction failed revision={} reason={}", revision, cause.toString());
    }
  }
}
