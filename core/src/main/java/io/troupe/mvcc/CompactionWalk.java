package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds the versions that a compaction makes obsolete: walks over the changes of its window in
 * order and, at the last change of each key, over the versions of that key. So each key is handled
 * once. This is the way for few changes of many keys; otherwise {@link CompactionScan} is faster.
 * Both cursors are frozen at the start, so the walk never steps over the deletion marks of its own
 * removals: its cost is linear in the changes and the removed versions. One thread.
 */
final class CompactionWalk implements ObsoleteVersions {
  /**
   * Position at which a walk continues.
   *
   * @param change in the revision space: the next change at or after it
   * @param row the next version to check of the key that {@code change} changed, or null if that
   *     key is not started
   */
  private record Position(Bytes change, @Nullable Bytes row) {
    static Position at(Bytes change) {
      return new Position(change, null);
    }
  }

  /**
   * By key, the revision of the version that is kept, for recently visited keys. For an earlier
   * change of such a key the walk need not check the versions of the key: they are removed when the
   * walk reaches the kept one. Belongs to one compaction.
   */
  private static final class KeptRevisions {
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
  private final Bytes firstKey;
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
   * @param keptRevisions keys that earlier walks of the same compaction visited
   */
  private CompactionWalk(
      StoreView store, Position begin, long target, Bytes firstKey, KeptRevisions keptRevisions) {
    this.begin = begin;
    this.target = target;
    this.firstKey = firstKey;
    this.keptRevisions = keptRevisions;
    this.cursors =
        HistoryCursors.openLong(store, begin.change(), StoreKeys.revision(target + 1, 0));
    this.changes = cursors.changes();
    this.rows = cursors.rows();
  }

  /**
   * Begins a walk over the changes of a compaction.
   *
   * @param firstKey smaller keys need no check
   */
  static Opening of(CompactionScan.Window window, Bytes firstKey) {
    KeptRevisions none = new KeptRevisions();
    Position begin = Position.at(StoreKeys.revision(window.from(), 0));
    return store -> new CompactionWalk(store, begin, window.target(), firstKey, none);
  }

  @Override
  public boolean isOver() {
    return checked >= MOST_ROWS;
  }

  @Override
  public Opening rest() {
    Position next = position();
    return store -> new CompactionWalk(store, next, target, firstKey, keptRevisions);
  }

  private Position position() {
    Bytes last = change;
    if (last == null) {
      return begin;
    }
    return kept == null ? Position.at(last.successor()) : new Position(last, rows.key());
  }

  @Override
  public boolean fill(VersionRemoval removal, int maxChecked) {
    int until = checked + maxChecked;
    while (true) {
      if (kept != null && !removeOlder(kept, removal)) {
        return false;
      }
      kept = null;
      if (checked >= until || removal.isFull()) {
        return false;
      }
      if (!changes.next()) {
        return true;
      }
      checked++;
      check(changes.key(), RowCodec.changedKey(changes.value()));
    }
  }

  private void check(Bytes place, Bytes key) {
    change = place;
    long main = StoreKeys.revisionMain(place);
    if (key.compareTo(firstKey) < 0 || keptRevisions.isAfter(key, main)) {
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
   * Visits the older versions of one key, newest first, and ends the key.
   *
   * @return false if the batch is full before that; the cursor is then at the next version
   */
  private boolean removeOlder(Bytes newest, VersionRemoval removal) {
    while (onRow && StoreKeys.sameKey(rows.key(), newest)) {
      if (removal.isFull()) {
        return false;
      }
      removal.older(rows.key());
      step();
    }
    removal.end(newest);
    return true;
  }

  @Override
  public void close() {
    cursors.close();
  }
}
