package io.troupe.mvcc;

import io.troupe.model.Bytes;
import org.jspecify.annotations.Nullable;

/** Walks over the keys that are alive at one revision, in key order, one row each. */
final class VersionWalk {
  // A key mostly has a version or two: stepping over them is cheaper than a seek.
  private static final int STEPS_BEFORE_SEEK = 4;

  private final OrderedStore.Cursor cursor;
  private final long atRevision;
  private @Nullable Bytes row;

  /**
   * Begins before the first key.
   *
   * @param cursor over rows of the key space; stays the caller's to close
   */
  VersionWalk(OrderedStore.Cursor cursor, long atRevision) {
    this.cursor = cursor;
    this.atRevision = atRevision;
  }

  /** Steps to the next live key; false when there is none. */
  boolean next() {
    Bytes from = row;
    boolean found = from == null ? cursor.next() : toNextKey(from);
    while (found) {
      Bytes candidate = cursor.key();
      if (StoreKeys.main(candidate) > atRevision) {
        found = toVisible(candidate);
      } else if (StoreKeys.isTombstone(candidate)) {
        found = toNextKey(candidate);
      } else {
        row = candidate;
        return true;
      }
    }
    return false;
  }

  /** The row the walk stands on. */
  Bytes row() {
    Bytes current = row;
    if (current == null) {
      throw new IllegalStateException("the walk stands on no row");
    }
    return current;
  }

  /** The value of {@link #row()}. */
  Bytes value() {
    return cursor.value();
  }

  /** From a version that is too new to the first that is not, or to another key's newest. */
  private boolean toVisible(Bytes tooNew) {
    for (int i = 0; i < STEPS_BEFORE_SEEK; i++) {
      if (!cursor.next()) {
        return false;
      }
      Bytes candidate = cursor.key();
      if (StoreKeys.main(candidate) <= atRevision || !StoreKeys.sameKey(candidate, tooNew)) {
        return true;
      }
    }
    return cursor.seek(StoreKeys.newestAtOfRow(tooNew, atRevision));
  }

  private boolean toNextKey(Bytes done) {
    for (int i = 0; i < STEPS_BEFORE_SEEK; i++) {
      if (!cursor.next()) {
        return false;
      }
      if (!StoreKeys.sameKey(cursor.key(), done)) {
        return true;
      }
    }
    return cursor.seek(StoreKeys.behindRow(done));
  }
}
