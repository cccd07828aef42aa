package io.troupe.edge.calls;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import io.troupe.model.Bytes;
import io.troupe.model.MemoryBudget;
import org.jspecify.annotations.Nullable;

/**
 * The request of a call that has exactly one, until the client has closed its side. Used by one
 * thread.
 */
final class OnlyRequest {
  private final MemoryBudget.Share memory;
  private @Nullable Bytes request;

  /**
   * Starts without a request.
   *
   * @param memory counts the request
   */
  OnlyRequest(MemoryBudget.Share memory) {
    this.memory = memory;
  }

  /** Adds a received request and returns this. */
  OnlyRequest add(Bytes more) {
    if (request != null) {
      request = null;
      throw wrongNumber("received multiple request messages for");
    }
    memory.take(more.length());
    request = more;
    return this;
  }

  /** Returns the request and releases it. */
  Bytes take() {
    Bytes taken = request;
    if (taken == null) {
      throw wrongNumber("received no request message from");
    }
    request = null;
    return taken;
  }

  private static GrpcException wrongNumber(String what) {
    return new GrpcException(
        GrpcStatus.INTERNAL, "cardinality violation: " + what + " non-client-streaming RPC");
  }
}
