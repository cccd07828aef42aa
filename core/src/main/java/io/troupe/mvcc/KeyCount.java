package io.troupe.mvcc;

import java.util.OptionalLong;

/**
 * How many keys are live: counted once, on demand, and then kept by the writer, at the price of an
 * addition for each key that is created or removed. Nothing of it is stored.
 */
final class KeyCount {
  /**
   * What readers see.
   *
   * @param revision at which the changes are complete
   * @param changes keys created less keys removed since the store was opened
   */
  record Mark(long revision, long changes) {}

  private volatile Mark mark;
  private volatile OptionalLong whenOpened = OptionalLong.empty();
  private long changes;

  KeyCount(long revision) {
    this.mark = new Mark(revision, 0);
  }

  /** The writer's: a key became live. */
  void created() {
    changes++;
  }

  /** The writer's: a key ceased to be live. */
  void removed() {
    changes--;
  }

  /** The writer's: all changes up to a revision are in the store. */
  void publish(long revision) {
    mark = new Mark(revision, changes);
  }

  Mark mark() {
    return mark;
  }

  /** So many keys were live at a mark. */
  void counted(Mark at, long keys) {
    whenOpened = OptionalLong.of(keys - at.changes());
  }

  /** Live keys now; empty until they were counted. */
  OptionalLong now() {
    OptionalLong first = whenOpened;
    return first.isEmpty() ? first : OptionalLong.of(first.getAsLong() + mark.changes());
  }
}
