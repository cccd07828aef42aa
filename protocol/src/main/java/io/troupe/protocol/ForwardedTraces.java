package io.troupe.protocol;

import io.troupe.model.TraceContext;

/**
 * Told what this member did, as leader, with proposals of other members that belong to a trace.
 * Thread-safe; never waits.
 */
@FunctionalInterface
public interface ForwardedTraces {
  /** Of a member that traces nothing. */
  ForwardedTraces NONE =
      new ForwardedTraces() {
        @Override
        public boolean isWanted() {
          return false;
        }

        @Override
        public void applied(Forwarded proposal) {
          // Nobody listens.
        }
      };

  /**
   * A proposal of another member that was committed and applied here. Times are of {@link
   * System#nanoTime}.
   *
   * @param call the call's span at that member
   * @param index log index
   * @param takenNanos when the raft actor took it
   * @param committedNanos when that room knew the entry committed
   */
  record Forwarded(TraceContext call, long index, long takenNanos, long committedNanos) {}

  /** Whether anything comes of what is told. */
  default boolean isWanted() {
    return true;
  }

  /** The state holds it. */
  void applied(Forwarded proposal);
}
