package io.troupe.mvcc;

import java.lang.ref.SoftReference;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the window of the last hash for the next one. Its arrays live long enough to reach the old
 * generation of the heap: with new ones for each hash, frequent hashes fill that generation. The
 * garbage collector takes the window when the heap is short. For any number of threads.
 */
final class HashWindows {
  private static final int LEAST_BYTES = 1 << 20;
  private static final int MOST_BYTES = 64 << 20;

  private final AtomicReference<@Nullable SoftReference<HashWindow>> spare =
      new AtomicReference<>();

  /**
   * Returns an empty window of one sixty-fourth of the heap, but at least 1 MiB and at most 64 MiB;
   * the caller owns it.
   */
  HashWindow take() {
    SoftReference<HashWindow> reference = spare.getAndSet(null);
    HashWindow window = reference == null ? null : reference.get();
    return window == null ? new HashWindow(mostChanges()) : window;
  }

  /** Takes a window that its owner does not use any more. */
  void giveBack(HashWindow window) {
    window.clear();
    spare.set(new SoftReference<>(window));
  }

  private static int mostChanges() {
    long share = Runtime.getRuntime().maxMemory() / 64;
    long bytes = Math.max(LEAST_BYTES, Math.min(MOST_BYTES, share));
    return (int) (bytes / HashWindow.CHANGE_BYTES);
  }
}
