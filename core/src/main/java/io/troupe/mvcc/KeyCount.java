package io.troupe.mvcc;

import java.util.OptionalLong;

/**
 * Number of live keys: counted once, on demand, and then maintained by the writer, at the cost of
 * an addition for each key that is created or removed. Not stored.
 */
final class KeyCount {
  /**
   * State that readers see.
   *
   * @param revision revision up to which the changes are complete
   * @param changes keys created minus keys removed since the store was opened
   */
  record Mark(long revision, long changes) {}

  private volatile Mark mark;
  private volatile OptionalLong whenOpened = OptionalLong.empty();
  private long changes;

  KeyCount(long revision) {
    this.mark = new Mark(revision, 0);
  }

  /** Called by the writer: a key became live. */
  void created() {
    changes++;
  }

  /** Called by the writer: a key is no longer live. */
  void removed() {
    changes--;
  }

  /** Called by the writer: all changes up to a revision are in the store. */
  void publish(long revision) {
    mark = new Mark(revision, changes);
  }

  Mark mark() {
    return mark;
  }

  /** Records the number of live keys at a mark. */
  void counted(Mark at, long keys) {
    whenOpened = OptionalLong.of(keys - at.changes());
  }

  /** Current number of live keys; empty until they were counted. */
  OptionalLong now() {
    OptionalLong first = whenOpened;
    return first.isEmpty() ? first : OptionalLong.of(first.getAsLong() + mark.changes());
  }
}
