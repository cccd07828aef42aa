package io.troupe.edge.calls;

import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.MessageLite;
import io.troupe.grpc.api.DeleteRangeResponse;
import io.troupe.grpc.api.RangeResponse;
import io.troupe.metrics.LogRateLimit;
import io.troupe.model.Bytes;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Logs unary calls with etcd's text and fields: each call at debug level, and at warn level calls
 * that took longer than warning-unary-request-duration, at most ten per second.
 */
public final class RequestLog {
  private static final Logger LOG = LoggerFactory.getLogger(RequestLog.class);

  private final long slowNanos;
  private final Clock clock;
  private final LogRateLimit limit = new LogRateLimit(TimeUnit.MILLISECONDS.toNanos(100));

  /**
   * Creates a log.
   *
   * @param slow duration above which a call is logged at warn level
   */
  public RequestLog(Duration slow, Clock clock) {
    this.slowNanos = slow.toNanos();
    this.clock = clock;
  }

  /**
   * A completed call.
   *
   * @param path of its method
   * @param method null if it is not declared
   * @param client its address
   * @param request the message; null if it did not arrive, or is too large to be kept
   * @param requestSize in bytes
   * @param responseSize in bytes, 0 for a failure
   */
  record Ended(
      String path,
      @Nullable MethodDescriptor method,
      String client,
      @Nullable Bytes request,
      int requestSize,
      @Nullable MessageLite response,
      int responseSize,
      int status) {}

  /** Whether a call of this duration is logged; call this before {@link #ended}. */
  boolean wants(long nanos) {
    return nanos > slowNanos || LOG.isDebugEnabled();
  }

  /** Logs a completed call. */
  void ended(Ended call, long nanos) {
    boolean slow = nanos > slowNanos;
    long suppressed = slow ? limit.admit(System.nanoTime()) : 0;
    if (suppressed == LogRateLimit.SUPPRESSED) {
      return;
    }
    Duration took = Duration.ofNanos(nanos);
    MethodDescriptor method = call.method();
    Bytes request = call.request();
    LOG.atLevel(slow ? Level.WARN : Level.DEBUG)
        .setMessage("request stats")
        .addKeyValue("start time", clock.instant().minus(took))
        .addKeyValue("time spent", took)
        .addKeyValue("remote", call.client())
        .addKeyValue("response type", call.path())
        .addKeyValue("request size", call.requestSize())
        .addKeyValue("response count", count(call.response()))
        .addKeyValue("response size", call.responseSize())
        .addKeyValue("code", call.status())
        .addKeyValue(
            "request content",
            method == null || request == null
                ? ""
                : RequestContent.of(method.getInputType(), request))
        .addKeyValue("suppressed", suppressed)
        .log();
  }

  private static long count(@Nullable MessageLite response) {
    if (response instanceof RangeResponse range) {
      return range.getKvsCount();
    }
    return response instanceof DeleteRangeResponse delete ? delete.getDeleted() : 0;
  }
}
