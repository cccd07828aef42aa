package io.troupe.watch;

import java.util.HashSet;
import java.util.OptionalLong;
import java.util.Set;

/** Watch ids of one stream (W1). One thread. */
public final class WatchIds {
  private final Set<Long> used = new HashSet<>();
  private long next;

  /**
   * Takes an id.
   *
   * @param asked 0 lets this class choose; anything else, negative too, is taken as it is
   * @return the id, or empty when the asked one is in use
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
   * Frees an id after a cancel request. After a cancellation by compaction it stays taken until the
   * client asks (W12).
   *
   * @return false when it was not in use
   */
  public boolean free(long id) {
    return used.remove(id);
  }
}
