package io.troupe.grpc.service;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What came with a request besides its message (T5).
 *
 * @param token auth token, null when none was sent; an empty one is a bad one (A3)
 * @param hasLeader fail when no leader is known
 * @param timeout what the client said it will wait
 * @param apiVersion what the client says of its version, empty if nothing
 * @param memory what the call makes this process hold; its creator closes it when the response is
 *     sent
 * @param abandoned true once the client has left, reset the stream or closed the connection; from
 *     any thread
 * @param certificateUser common name of the client's verified certificate where that is a login
 *     (A14), empty if it has none; null otherwise
 * @param trace told what becomes of it
 */
public record Call(
    @Nullable String token,
    boolean hasLeader,
    Optional<Duration> timeout,
    String apiVersion,
    MemoryBudget.Share memory,
    BooleanSupplier abandoned,
    @Nullable String certificateUser,
    CallTrace trace) {
  /** Somebody who names no deadline may have gone away without our knowing. */
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** True if it does not say who calls, in any way. */
  boolean isAnonymous() {
    return token == null && certificateUser == null;
  }

  /** True once the client has left: work for it that has not begun is dropped. */
  boolean isAbandoned() {
    return abandoned.getAsBoolean();
  }

  /** The same call with another account for what its answer takes. */
  Call withMemory(MemoryBudget.Share other) {
    return new Call(
        token, hasLeader, timeout, apiVersion, other, abandoned, certificateUser, trace);
  }

  /**
   * Its response is made.
   *
   * @param code of its status
   */
  public void ended(int code) {
    trace.ended(code);
  }

  /** How long to try what has no time limit of the server's own (M13, MT10). */
  Duration patience() {
    return timeout.filter(wanted -> wanted.compareTo(LONGEST) < 0).orElse(LONGEST);
  }

  /** What a call ends with whose client has left: nothing reads it. */
  static GrpcException canceled() {
    return new GrpcException(GrpcStatus.CANCELED, "context canceled");
  }

  /** What a call ends with when its time, not a request timeout, is over (section 3). */
  static GrpcException deadlineExceeded() {
    return new GrpcException(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded");
  }
}
