package io.troupe.model;

/**
 * A place in a trace, as W3C's {@code traceparent} names it: the span below which others may stand.
 *
 * @param traceHigh first eight bytes of the trace's id, big endian
 * @param traceLow its last eight; not both are 0
 * @param span id of the span, not 0
 * @param flags 0..255; bit 0: whoever made the span records it
 * @source W3C Trace Context, 3.2.2
 */
public record TraceContext(long traceHigh, long traceLow, long span, int flags) {
  /** Checks what the standard forbids. */
  public TraceContext {
    if ((traceHigh | traceLow) == 0 || span == 0) {
      throw new IllegalArgumentException("a trace and a span have ids that are not 0");
    }
    if (flags < 0 || flags > 255) {
      throw new IllegalArgumentException("flags of a trace are one byte: " + flags);
    }
  }
}
