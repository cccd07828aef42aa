package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.MemoryBudget;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The metadata of a request (T5).
 *
 * @param token auth token, null when none was sent; an empty token is invalid (A3)
 * @param hasLeader fail when no leader is known
 * @param timeout how long the client waits
 * @param apiVersion the client's version, empty if unknown
 * @param memory what the call makes this process hold; its creator closes it when the response is
 *     sent
 * @param abandoned true once the client has disconnected, reset the stream or closed the
 *     connection; called on any thread
 * @param certificateUser common name of the client's verified certificate where that is a login
 *     (A14), empty if it has none; null otherwise
 * @param executor runs what follows a reply: conversion, metrics, encoding. The thread of the
 *     client's connection, never that of an actor
 * @param trace receives the steps and the outcome
 */
public record Call(
    @Nullable String token,
    boolean hasLeader,
    Optional<Duration> timeout,
    String apiVersion,
    MemoryBudget.Share memory,
    BooleanSupplier abandoned,
    @Nullable String certificateUser,
    ReplyExecutor executor,
    CallTrace trace) {
  /** A client without a deadline may have disconnected unnoticed. */
  private static final Duration LONGEST = Duration.ofMinutes(10);

  /** True if the call carries no identity, neither token nor certificate. */
  boolean isAnonymous() {
    return token == null && certificateUser == null;
  }

  /** True once the client has disconnected: work for it that has not started is dropped. */
  boolean isAbandoned() {
    return abandoned.getAsBoolean();
  }

  /** The same call with another memory share for its response. */
  Call withMemory(MemoryBudget.Share other) {
    return new Call(
        token, hasLeader, timeout, apiVersion, other, abandoned, certificateUser, executor, trace);
  }

  /**
   * The response is built.
   *
   * @param code of its status
   */
  public void ended(int code) {
    trace.ended(code);
  }

  /** Time limit for an operation that has no server-side limit (M13, MT10). */
  Duration retryLimit() {
    return timeout.filter(wanted -> wanted.compareTo(LONGEST) < 0).orElse(LONGEST);
  }

  /** The status of a call whose client has disconnected; no client receives it. */
  static GrpcException canceled() {
    return new GrpcException(GrpcStatus.CANCELED, "context canceled");
  }

  /** The status of a call whose deadline, not the request timeout, has expired (section 3). */
  static GrpcException deadlineExceeded() {
    return new GrpcException(GrpcStatus.DEADLINE_EXCEEDED, "context deadline exceeded");
  }
}
