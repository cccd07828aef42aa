package io.troupe.protocol.codec;

import io.troupe.model.TraceContext;
import io.troupe.protocol.wire.WireTraceContext;
import org.jspecify.annotations.Nullable;

/** Encodes and decodes a trace context in a message to another member. */
final class TraceContextCodec {
  /** Maximum size of its field with tag and length. */
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

  /** Null for an invalid trace context: it never makes the message invalid. */
  static @Nullable TraceContext get(WireTraceContext wire) {
    long high = wire.getTraceHigh();
    long low = wire.getTraceLow();
    if ((high | low) == 0 || wire.getSpan() == 0) {
      return null;
    }
    return new TraceContext(high, low, wire.getSpan(), wire.getFlags() & FLAGS);
  }
}
