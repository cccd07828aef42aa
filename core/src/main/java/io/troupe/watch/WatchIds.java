package io.troupe.watch;

import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;

/** Watch ids of one stream (W1). One thread. */
public final class WatchIds {
  private final Set<Long> used = new HashSet<>();
  private long next;

  /**
   * Allocates an id.
   *
   * @param asked 0 lets this class choose; any other number, also a negative one, is used as
   *     requested
   * @return the id, or empty if the requested one is in use
   */
  public OptionalLong take(long asked) {
    long id = asked;
    if (asked == 0) {
      while (used.contains(next)) {
        next++;
      }
      id = next++;
    }
    return used.add(id) ? OptionalLong.of(id) : OptionalLong.empty();
  }

  /**
   * Frees an id after a cancel request. After a cancellation by compaction the id stays allocated
   * until the client cancels the watch (W12).
   *
   * @return false if it was not in use
   */
  public boolean free(long id) {
    return used.remove(id);
  }
}
