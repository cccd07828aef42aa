package io.troupe.protocol.codec;

import io.troupe.model.TraceContext;
import io.troupe.protocol.wire.WireTraceContext;
import org.jspecify.annotations.Nullable;

/** A place in a trace, in flight to another member. */
final class TraceContextCodec {
  /** Its field with tag and length. */
  static final int MOST_BYTES = 32;

  private static final int FLAGS = 0xff;

  private TraceContextCodec() {}

  static WireTraceContext put(TraceContext trace) {
    return WireTraceContext.newBuilder()
        .setTraceHigh(trace.traceHigh())
        .setTraceLow(trace.traceLow())
        .setSpan(trace.span())
        .setFlags(trace.flags())
        .build();
  }

  /** Null for what is no place in a trace: a message is never void because of it. */
  static @Nullable TraceContext get(WireTraceContext wire) {
    long high = wire.getTraceHigh();
    long low = wire.getTraceLow();
    if ((high | low) == 0 || wire.getSpan() == 0) {
      return null;
    }
    return new TraceContext(high, low, wire.getSpan(), wire.getFlags() & FLAGS);
  }
}
