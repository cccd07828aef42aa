package io.troupe.metrics;

/**
 * The operation of the log that the disk executes now, if any: a hanging disk completes none. One
 * thread writes; any thread reads. No method blocks or allocates.
 */
public final class WalProgress {
  /** Counts the begins and the ends of operations; odd while one is in progress. */
  private volatile long steps;

  private volatile long startNanos;

  WalProgress() {}

  /** An operation starts; {@link #completed} ends it. */
  public void started(long nanos) {
    startNanos = nanos;
    step();
  }

  /** The disk completed the operation, or it failed. */
  public void completed() {
    step();
  }

  private void step() {
    // Only the log's thread writes.
    long next = steps + 1;
    steps = next;
  }

  /**
   * The number of the pending operation, 1 or more; 0 if none is pending. Two reads that return the
   * same number above 0 show that the disk completed nothing between them.
   */
  public long pendingOperation() {
    long now = steps;
    return now % 2 == 0 ? 0 : now;
  }

  /**
   * Age of the pending operation, 0 or more; 0 if none is pending.
   *
   * @param nowNanos by {@link System#nanoTime}
   */
  public long pendingNanos(long nowNanos) {
    long operation = pendingOperation();
    long start = startNanos;
    // The start belongs to that operation only if it is still the current one.
    return operation == 0 || operation != steps ? 0 : Math.max(0, nowNanos - start);
  }
}
