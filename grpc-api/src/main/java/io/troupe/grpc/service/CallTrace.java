package io.troupe.grpc.service;

import io.troupe.model.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * What the trace of one call is told. All times are of {@link System#nanoTime}; whoever would read
 * that clock for a trace alone asks {@link #isRecorded} first. Thread-safe.
 */
public interface CallTrace {
  /** Of a call that nobody traces: the same for all of them. */
  CallTrace NONE =
      new CallTrace() {
        @Override
        public boolean isRecorded() {
          return false;
        }

        @Override
        public @Nullable TraceContext context() {
          return null;
        }

        @Override
        public void step(String name, long startNanos, long endNanos) {
          // Nobody listens.
        }

        @Override
        public void ended(int code) {
          // Nobody listens.
        }
      };

  /** Whether anything comes of what is told. */
  boolean isRecorded();

  /** The call as a place in its trace, for other members; null unless it is recorded. */
  @Nullable TraceContext context();

  /** A part of the call, while the call runs; parts may overlap. */
  void step(String name, long startNanos, long endNanos);

  /**
   * The call ends now. To be told once.
   *
   * @param code of its gRPC status, 0..16
   */
  void ended(int code);
}
