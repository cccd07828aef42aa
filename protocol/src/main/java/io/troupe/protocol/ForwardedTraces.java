package io.troupe.protocol;

import io.troupe.model.TraceContext;

/**
 * Called when this member, as leader, has applied proposals of other members that belong to a
 * trace. Thread-safe; never blocks.
 */
@FunctionalInterface
public interface ForwardedTraces {
  /** For a member without tracing. */
  ForwardedTraces NONE =
      new ForwardedTraces() {
        @Override
        public boolean isWanted() {
          return false;
        }

        @Override
        public void applied(Forwarded proposal) {
          // No tracing.
        }
      };

  /**
   * A proposal of another member that was committed and applied here. Times are of {@link
   * System#nanoTime}.
   *
   * @param call the call's span at that member
   * @param index log index
   * @param takenNanos when the raft actor accepted it
   * @param committedNanos when the raft actor learned that the entry is committed
   */
  record Forwarded(TraceContext call, long index, long takenNanos, long committedNanos) {}

  /** True if calls of {@link #applied} have an effect. */
  default boolean isWanted() {
    return true;
  }

  /** The state has applied the proposal. */
  void applied(Forwarded proposal);
}
