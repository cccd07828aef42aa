package io.troupe.model;

/**
 * The span of a trace under which further spans are created, as W3C's {@code traceparent} names it.
 *
 * @param traceHigh first eight bytes of the trace id, big endian
 * @param traceLow its last eight bytes; at least one of the two is not 0
 * @param span id of the span, not 0
 * @param flags 0..255; bit 0: the creator of the span records it
 * @source W3C Trace Context, 3.2.2
 */
public record TraceContext(long traceHigh, long traceLow, long span, int flags) {
  /** Checks the constraints of the standard. */
  public TraceContext {
    if ((traceHigh | traceLow) == 0 || span == 0) {
      throw new IllegalArgumentException("trace id and span id must not be 0");
    }
    if (flags < 0 || flags > 255) {
      throw new IllegalArgumentException("trace flags exceed one byte: " + flags);
    }
  }
}
