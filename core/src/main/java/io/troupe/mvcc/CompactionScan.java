package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import org.jspecify.annotations.Nullable;

/**
 * Finds the versions that a compaction makes obsolete in one walk over the versions of all keys, in
 * their order on disk. This is by far the fastest way if much has changed since the last
 * compaction, in whatever order: no seek, and nothing is read twice. It gives up when it has passed
 * too many versions that stay. A {@link CompactionWalk} over the changes then handles the other
 * keys.
 *
 * <p>The cursor is frozen at the start, so the walk never steps over the deletion marks of its own
 * removals.
 */
final class CompactionScan implements ObsoleteVersions {
  // As in VersionIterator.
  private static final int STEPS_BEFORE_SEEK = 4;

  /** A seek costs about as much as ten steps. */
  private static final int STEPS_OF_SEEK = 10;

  /**
   * Versions that stay and that a scan may pass for each revision of the window. They cost about as
   * much as the seek with which a {@link CompactionWalk} begins a key.
   */
  private static final int STEPS_PER_REVISION = 8;

  /**
   * What a compaction must check.
   *
   * @param from first revision, 0 or more
   * @param target compacted revision, already published
   */
  record Window(long from, long target) {}

  private final Window window;
  private final Cursor rows;
  private boolean begun;
  private boolean onRow;

  /** A version of the current key; null before the first. */
  private @Nullable Bytes current;

  /** The kept version of the current key, or null if the scan has not met it. */
  private @Nullable Bytes kept;

  /** Versions of the current key that are newer than the compacted revision. */
  private int newer;

  private long stepsLeft;
  private boolean givenUp;
  private int checked;

  /**
   * Opens the cursor.
   *
   * @param row the next version to check
   * @param kept the kept version of the key of {@code row}, or null if the scan has not met it
   * @param stepsLeft versions that may stay before the scan gives up
   */
  private CompactionScan(
      StoreView store, Window window, Bytes row, @Nullable Bytes kept, long stepsLeft) {
    this.window = window;
    this.kept = kept;
    this.current = kept;
    this.stepsLeft = stepsLeft;
    this.rows = VersionCursor.openLong(store, row, null);
  }

  /** Begins the search of a compaction. */
  static Opening of(Window window) {
    long steps = STEPS_PER_REVISION * (window.target() - window.from());
    return store -> new CompactionScan(store, window, Bytes.EMPTY, null, steps);
  }

  @Override
  public boolean isOver() {
    return givenUp || checked >= MOST_ROWS;
  }

  @Override
  public Opening rest() {
    Bytes next = rows.key();
    if (givenUp) {
      return CompactionWalk.of(window, StoreKeys.userKey(next));
    }
    Bytes known = kept;
    long left = stepsLeft;
    return store -> new CompactionScan(store, window, next, known, left);
  }

  @Override
  public boolean fill(VersionRemoval removal, int maxChecked) {
    if (!begun) {
      begun = true;
      onRow = rows.next();
    }
    int until = checked + maxChecked;
    while (onRow) {
      Bytes row = rows.key();
      Bytes before = current;
      if (before == null || !StoreKeys.sameKey(before, row)) {
        endKey(removal);
        if (stepsLeft <= 0) {
          givenUp = true;
          return false;
        }
        current = row;
        newer = 0;
      }
      if (removal.isFull() || checked >= until) {
        return false;
      }
      checked++;
      check(row, removal);
    }
    endKey(removal);
    return true;
  }

  private void check(Bytes row, VersionRemoval removal) {
    long target = window.target();
    if (StoreKeys.main(row) > target) {
      stepsLeft--;
      newer++;
      if (newer > STEPS_BEFORE_SEEK) {
        stepsLeft -= STEPS_OF_SEEK;
        onRow = rows.seek(StoreKeys.newestAtOfRow(row, target));
        return;
      }
    } else if (kept == null) {
      stepsLeft--;
      kept = row;
    } else {
      removal.older(row);
    }
    onRow = rows.next();
  }

  private void endKey(VersionRemoval removal) {
    Bytes last = kept;
    if (last != null) {
      removal.end(last);
      kept = null;
    }
  }

  @Override
  public void close() {
    rows.close();
  }
}
