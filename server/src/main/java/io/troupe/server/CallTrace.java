package io.troupe.server;

import io.troupe.model.TraceContext;
import org.jspecify.annotations.Nullable;

/**
 * Records the trace of one call. All times are of {@link System#nanoTime}. Call {@link #isRecorded}
 * before reading that clock only for a trace. Thread-safe.
 */
public interface CallTrace {
  /** The shared instance for calls that are not traced. */
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
          // Not recorded.
        }

        @Override
        public void ended(int code) {
          // Not recorded.
        }
      };

  /** Whether steps are recorded. */
  boolean isRecorded();

  /** The call's position in its trace, for other members; null unless it is recorded. */
  @Nullable TraceContext context();

  /** Records a part of the running call; parts may overlap. */
  void step(String name, long startNanos, long endNanos);

  /**
   * Records the end of the call. Must be called once.
   *
   * @param code of its gRPC status, 0..16
   */
  void ended(int code);
}
