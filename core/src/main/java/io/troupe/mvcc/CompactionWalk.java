package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the versions that a compaction makes obsolete: walks over the changes of its window in
 * order and, at the last change of each key, over the versions of that key. So each key is handled
 * once. Both cursors are frozen at the start, so the walk never steps over the deletion marks of
 * its own removals: its cost is linear in the changes and the removed versions. One thread.
 */
final class CompactionWalk implements AutoCloseable {
  /**
   * Position at which a walk continues.
   *
   * @param change in the revision space: the next change at or after it
   * @param row the next version to check of the key that {@code change} changed, or null if that
   *     key is not started
   */
  record Position(Bytes change, @Nullable Bytes row) {
    static Position at(Bytes change) {
      return new Position(change, null);
    }
  }

  /**
   * By key, the revision of the version that is kept, for recently visited keys. For an earlier
   * change of such a key the walk need not check the versions of the key: they are removed when the
   * walk reaches the kept one. Belongs to one compaction.
   */
  static final class KeptRevisions {
    private static final int MOST_KEYS = 8192;
    private static final long MOST_BYTES = 1 << 20;

    private final Map<Bytes, Long> byKey = new HashMap<>();
    private long bytes;

    private boolean isAfter(Bytes key, long main) {
      Long known = byKey.get(key);
      return known != null && known > main;
    }

    private void remember(Bytes key, long main) {
      bytes += key.length();
      if (byKey.size() >= MOST_KEYS || bytes > MOST_BYTES) {
        byKey.clear();
        bytes = key.length();
      }
      byKey.put(key, main);
    }
  }

  private final HistoryCursors cursors;
  private final Cursor changes;
  private final Cursor rows;
  private final long target;
  private final KeptRevisions keptRevisions;
  private int checked;

  /** The last checked change; while {@link #kept} is set, it is not finished. */
  private @Nullable Bytes change;

  /** The kept version of the key whose older versions are being removed, or null. */
  private @Nullable Bytes kept;

  /** True if {@link #rows} is at a row. */
  private boolean onRow;

  /** The row directly before the current one of {@link #rows}, or null if it is not known. */
  private @Nullable Bytes passed;

  private final Position begin;

  /**
   * Opens the cursors.
   *
   * @param target compacted revision, already published
   * @param keptRevisions keys that earlier walks of the same compaction visited
   */
  CompactionWalk(OrderedStore store, Position begin, long target, KeptRevisions keptRevisions) {
    this.begin = begin;
    this.target = target;
    this.keptRevisions = keptRevisions;
    this.cursors = HistoryCursors.open(store, begin.change(), StoreKeys.revision(target + 1, 0));
    this.changes = cursors.changes();
    this.rows = cursors.rows();
  }

  /** Number of checked changes. */
  int checked() {
    return checked;
  }

  /** Position at which the next walk continues; call it only if the walk is not at its end. */
  Position position() {
    Bytes last = change;
    if (last == null) {
      return begin;
    }
    return kept == null ? Position.at(last.successor()) : new Position(last, rows.key());
  }

  /**
   * Adds removals to a batch.
   *
   * @param maxRemoved maximum number of versions, 1 or more; exceeded by one if the last key is
   *     removed completely
   * @param maxChecked maximum number of changes to check, 1 or more
   * @return true if the walk is at its end
   */
  boolean fill(StoreBatch batch, int maxRemoved, int maxChecked) {
    int until = checked + maxChecked;
    while (true) {
      if (kept != null && !removeOlder(kept, batch, maxRemoved)) {
        return false;
      }
      kept = null;
      if (checked >= until || isFull(batch, maxRemoved)) {
        return false;
      }
      if (!changes.next()) {
        return true;
      }
      checked++;
      check(changes.key(), RowCodec.changedKey(changes.value()));
    }
  }

  private static boolean isFull(StoreBatch batch, int maxRemoved) {
    return batch.changes().size() >= 2 * maxRemoved;
  }

  private void check(Bytes place, Bytes key) {
    change = place;
    long main = StoreKeys.revisionMain(place);
    if (keptRevisions.isAfter(key, main)) {
      return;
    }
    if (!moveTo(StoreKeys.newestAt(key, target))
        || !StoreKeys.sameKey(rows.key(), StoreKeys.row(key, 0, 0, false))) {
      throw new StoreException("no version of a changed key at revision " + target);
    }
    Bytes newest = rows.key();
    if (StoreKeys.main(newest) != main || StoreKeys.sub(newest) != StoreKeys.revisionSub(place)) {
      keptRevisions.remember(key, StoreKeys.main(newest));
      return;
    }
    kept = newest;
    Bytes resumeAt = place.equals(begin.change()) ? begin.row() : null;
    if (resumeAt == null) {
      step();
    } else if (!moveTo(resumeAt)) {
      throw new StoreException("version to remove is missing");
    }
  }

  /**
   * Moves to the first row at or after a position. If changes are in the order of their keys, that
   * is the next row, which costs a tenth of a seek.
   *
   * @return false if there is none
   */
  private boolean moveTo(Bytes place) {
    if (onRow && rows.key().compareTo(place) < 0) {
      step();
    }
    Bytes before = passed;
    if (!onRow
        || before == null
        || before.compareTo(place) >= 0
        || rows.key().compareTo(place) < 0) {
      passed = null;
      onRow = rows.seek(place);
    }
    return onRow;
  }

  private void step() {
    passed = rows.key();
    onRow = rows.next();
  }

  /**
   * Removes the obsolete versions of one key, newest first, and finally the kept tombstone.
   *
   * @return false if the batch is full before that; the cursor is then at the next version
   */
  private boolean removeOlder(Bytes newest, StoreBatch batch, int maxRemoved) {
    while (onRow && StoreKeys.sameKey(rows.key(), newest)) {
      // Changes at the compacted revision itself stay complete: a watch may still start there.
      if (StoreKeys.main(rows.key()) < target) {
        if (isFull(batch, maxRemoved)) {
          return false;
        }
        remove(rows.key(), batch);
      }
      step();
    }
    // A tombstone at the compacted revision stays for the same reason (C2). An older tombstone is
    // removed last: if the removal stops before that, the tombstone still leads to the rest of the
    // key.
    if (StoreKeys.isTombstone(newest) && StoreKeys.main(newest) < target) {
      remove(newest, batch);
    }
    return true;
  }

  private static void remove(Bytes row, StoreBatch batch) {
    batch.delete(Space.KEY, row);
    batch.delete(Space.REV, StoreKeys.revision(StoreKeys.main(row), StoreKeys.sub(row)));
  }

  @Override
  public void close() {
    cursors.close();
  }
}
