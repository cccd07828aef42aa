package io.troupe.node.tracing;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.troupe.metrics.WalSyncs;
import io.troupe.model.TraceContext;
import io.troupe.protocol.ForwardedTraces;
import io.troupe.server.WriteSteps;
import java.util.HexFormat;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/**
 * Records the work of this leader for a write that a client sent to another member: a span below
 * the call's span, and below it the steps from receiving the proposal to its commit.
 */
final class LeaderSpans implements ForwardedTraces {
  static final String NAME = "forwarded proposal";

  private final Tracer tracer;
  private final WalSyncs syncs;
  private final Executor runs;

  /**
   * Creates the recorder.
   *
   * @param syncs syncs of this member's log
   * @param runs executor that creates the spans
   */
  LeaderSpans(Tracer tracer, WalSyncs syncs, Executor runs) {
    this.tracer = tracer;
    this.syncs = syncs;
    this.runs = runs;
  }

  @Override
  public void applied(Forwarded proposal) {
    runs.execute(() -> record(proposal));
  }

  private void record(Forwarded proposal) {
    Clocks clocks = Clocks.now();
    Context call = Context.root().with(Span.wrap(remote(proposal.call())));
    Span span =
        tracer
            .spanBuilder(NAME)
            .setParent(call)
            .setSpanKind(SpanKind.SERVER)
            .setStartTimestamp(clocks.epochAt(proposal.takenNanos()), TimeUnit.NANOSECONDS)
            .startSpan();
    if (!span.isRecording()) {
      return;
    }
    WriteSteps.replicated(
        new RecordedCall(tracer, span, call.with(span), clocks),
        proposal.index(),
        proposal.takenNanos(),
        proposal.committedNanos(),
        syncs);
    span.end(clocks.epochAt(proposal.committedNanos()), TimeUnit.NANOSECONDS);
  }

  private static SpanContext remote(TraceContext call) {
    HexFormat hex = HexFormat.of();
    return SpanContext.createFromRemoteParent(
        hex.toHexDigits(call.traceHigh()) + hex.toHexDigits(call.traceLow()),
        hex.toHexDigits(call.span()),
        TraceFlags.fromByte((byte) call.flags()),
        TraceState.getDefault());
  }
}
