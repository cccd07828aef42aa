package io.troupe.node.tracing;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.TraceContext;
import io.troupe.server.CallTrace;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Records one span for the call and one for each step below it. */
final class RecordedCall implements CallTrace {
  private static final AttributeKey<Long> STATUS_CODE =
      AttributeKey.longKey("rpc.grpc.status_code");

  /** Codes that are the server's fault by OpenTelemetry's conventions for gRPC. */
  private static final Set<Integer> FAULTS =
      Set.of(
          GrpcStatus.UNKNOWN,
          GrpcStatus.DEADLINE_EXCEEDED,
          GrpcStatus.UNIMPLEMENTED,
          GrpcStatus.INTERNAL,
          GrpcStatus.UNAVAILABLE,
          GrpcStatus.DATA_LOSS);

  private final Tracer tracer;
  private final Span span;
  private final Context below;
  private final Clocks clocks;

  /**
   * Starts recording a call.
   *
   * @param below parent context of the steps
   * @param clocks start time
   */
  RecordedCall(Tracer tracer, Span span, Context below, Clocks clocks) {
    this.tracer = tracer;
    this.span = span;
    this.below = below;
    this.clocks = clocks;
  }

  @Override
  public boolean isRecorded() {
    return true;
  }

  @Override
  public TraceContext context() {
    SpanContext here = span.getSpanContext();
    String trace = here.getTraceId();
    return new TraceContext(
        HexFormat.fromHexDigitsToLong(trace, 0, 16),
        HexFormat.fromHexDigitsToLong(trace, 16, 32),
        HexFormat.fromHexDigitsToLong(here.getSpanId()),
        here.getTraceFlags().asByte() & 0xff);
  }

  @Override
  public void step(String name, long startNanos, long endNanos) {
    tracer
        .spanBuilder(name)
        .setParent(below)
        .setStartTimestamp(clocks.epochAt(startNanos), TimeUnit.NANOSECONDS)
        .startSpan()
        .end(clocks.epochAt(endNanos), TimeUnit.NANOSECONDS);
  }

  @Override
  public void ended(int code) {
    span.setAttribute(STATUS_CODE, (long) code);
    if (FAULTS.contains(code)) {
      span.setStatus(StatusCode.ERROR);
    }
    span.end(clocks.epochAt(System.nanoTime()), TimeUnit.NANOSECONDS);
  }
}
