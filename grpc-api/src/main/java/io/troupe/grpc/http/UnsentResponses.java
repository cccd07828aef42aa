package io.troupe.grpc.http;

import io.troupe.grpc.error.GrpcErrors;
import io.troupe.model.Refusal;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.util.ByteString;

/**
 * Bounds the memory of large responses that clients do not read. A small response is sent as it is:
 * their number is bounded by the streams of a connection. Thread-safe.
 */
final class UnsentResponses {
  /** From here on a response is counted, which costs a small stream each. */
  private static final int LARGE = 16 * 1024;

  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  UnsentResponses(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * The response with that frame; a refusal when too much waits to be read already.
   *
   * @param refusable false for what changed something: that must not look as if it had not happened
   */
  HttpResponse respond(ByteString frame, boolean refusable) {
    int size = frame.size();
    if (size < LARGE) {
      return GrpcResponses.unary(frame);
    }
    long after = bytes.addAndGet(size);
    // The first one is always let through: it may be larger than the limit by itself (G13).
    if (refusable && after > maxBytes && after > size) {
      bytes.addAndGet(-size);
      return GrpcResponses.failure(GrpcErrors.of(Refusal.TOO_MANY_REQUESTS));
    }
    return GrpcResponses.unary(frame, () -> bytes.addAndGet(-size));
  }
}
