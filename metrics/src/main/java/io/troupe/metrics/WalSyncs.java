package io.troupe.metrics;

import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * Times of the last forced writes of the log, from which a trace can tell when an entry became
 * durable here. One thread writes; any thread reads. Neither blocks, and writing does not allocate.
 */
public final class WalSyncs {
  /** Covers a fifth of a second on a disk that executes ten thousand forced writes per second. */
  private static final int KEPT = 2048;

  private static final int FIELDS = 3;

  /** For each: last index (0 while it is being written), start, end. */
  private final AtomicLongArray ring = new AtomicLongArray(KEPT * FIELDS);

  private volatile long written;

  WalSyncs() {}

  /**
   * A forced write; times are of {@link System#nanoTime}.
   *
   * @param startNanos when it started
   * @param endNanos when the written data was durable
   */
  public record Sync(long startNanos, long endNanos) {}

  /** Everything up to {@code lastIndex}, 1 or more, is durable. */
  void add(long lastIndex, long startNanos, long endNanos) {
    int at = at(written);
    ring.set(at, 0);
    ring.set(at + 1, startNanos);
    ring.set(at + 2, endNanos);
    ring.set(at, lastIndex);
    // Only the log's thread writes.
    long next = written + 1;
    written = next;
  }

  private static int at(long number) {
    return (int) (number % KEPT) * FIELDS;
  }

  /** The forced write that made the entry at {@code index} durable; null if it is unknown. */
  public @Nullable Sync find(long index) {
    long newest = written - 1;
    long startNanos = 0;
    long endNanos = 0;
    boolean found = false;
    boolean whole = newest < KEPT;
    for (long number = newest; number >= 0 && number > newest - KEPT; number--) {
      int at = at(number);
      long lastIndex = ring.get(at);
      long start = ring.get(at + 1);
      long end = ring.get(at + 2);
      if (lastIndex == 0 || ring.get(at) != lastIndex) {
        // Overwritten meanwhile: older writes are unknown.
        return null;
      }
      if (lastIndex < index) {
        whole = true;
        break;
      }
      startNanos = start;
      endNanos = end;
      found = true;
    }
    return found && whole ? new Sync(startNanos, endNanos) : null;
  }
}
