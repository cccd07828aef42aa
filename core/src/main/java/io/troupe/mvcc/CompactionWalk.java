package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Finds what a compaction makes superfluous: walks the changes of its window in order and, at the
 * last change of each key, that key's versions. So each key is handled once. Both cursors are
 * frozen at the beginning, so the walk never steps over the marks that its own removals leave: its
 * cost is linear in the changes and in what is removed. One thread.
 */
final class CompactionWalk implements AutoCloseable {
  /**
   * Where a walk continues.
   *
   * @param change in the revision space: the next change at or behind it
   * @param row the next version to judge of the key that {@code change} changed, or null if that
   *     key is not begun
   */
  record Position(Bytes change, @Nullable Bytes row) {
    static Position at(Bytes change) {
      return new Position(change, null);
    }
  }

  /**
   * By key, the revision of the version that is kept, for keys met lately. An earlier change of
   * such a key needs no check its versions: it goes when the walk comes to the kept one. Of one
   * compaction.
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
  private int looked;

  /** The last change that was checked; with {@link #kept} it is not done. */
  private @Nullable Bytes change;

  /** The version that is kept of the key whose older ones are being removed, or null. */
  private @Nullable Bytes kept;

  /** Whether {@link #rows} stands on a row. */
  private boolean onRow;

  /** The row right before the one that {@link #rows} stands on, or null if that is not known. */
  private @Nullable Bytes passed;

  private final Position begin;

  /**
   * Opens the cursors.
   *
   * @param target compacted revision, published already
   * @param keptRevisions what earlier walks of the same compaction met
   */
  CompactionWalk(OrderedStore store, Position begin, long target, KeptRevisions keptRevisions) {
    this.begin = begin;
    this.target = target;
    this.keptRevisions = keptRevisions;
    this.cursors = HistoryCursors.open(store, begin.change(), StoreKeys.revision(target + 1, 0));
    this.changes = cursors.changes();
    this.rows = cursors.rows();
  }

  /** Number of changes that were checked. */
  int looked() {
    return looked;
  }

  /** Where the next walk continues; of a walk that is not at its end. */
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
   * @param maxRemoved most versions, 1 or more; one more if the last key is gone with it
   * @param maxLooked most changes to check, 1 or more
   * @return whether the walk is at its end
   */
  boolean fill(StoreBatch batch, int maxRemoved, int maxLooked) {
    int until = looked + maxLooked;
    while (true) {
      if (kept != null && !removeOlder(kept, batch, maxRemoved)) {
        return false;
      }
      kept = null;
      if (looked >= until || isFull(batch, maxRemoved)) {
        return false;
      }
      if (!changes.next()) {
        return true;
      }
      looked++;
      lookAt(changes.key(), RowCodec.changedKey(changes.value()));
    }
  }

  private static boolean isFull(StoreBatch batch, int maxRemoved) {
    return batch.changes().size() >= 2 * maxRemoved;
  }

  private void lookAt(Bytes place, Bytes key) {
    change = place;
    long main = StoreKeys.revisionMain(place);
    if (keptRevisions.isAfter(key, main)) {
      return;
    }
    if (!moveTo(StoreKeys.newestAt(key, target))
        || !StoreKeys.sameKey(rows.key(), StoreKeys.row(key, 0, 0, false))) {
      throw new StoreException("a changed key has no version at revision " + target);
    }
    Bytes newest = rows.key();
    if (StoreKeys.main(newest) != main || StoreKeys.sub(newest) != StoreKeys.revisionSub(place)) {
      keptRevisions.remember(key, StoreKeys.main(newest));
      return;
    }
    kept = newest;
    Bytes goOn = place.equals(begin.change()) ? begin.row() : null;
    if (goOn == null) {
      step();
    } else if (!moveTo(goOn)) {
      throw new StoreException("a version that is to be removed is gone");
    }
  }

  /**
   * Moves to the first row at or behind a place. Where changes come in the order of their keys,
   * that is the next row, which costs a tenth of a seek.
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
   * Removes what is superfluous of one key, newest first, and at last the kept deletion itself.
   *
   * @return false if the batch is full before that; the cursor then stands on the next version
   */
  private boolean removeOlder(Bytes newest, StoreBatch batch, int maxRemoved) {
    while (onRow && StoreKeys.sameKey(rows.key(), newest)) {
      // What changed at the compacted revision itself stays whole: a watch may still begin there.
      if (StoreKeys.main(rows.key()) < target) {
        if (isFull(batch, maxRemoved)) {
          return false;
        }
        remove(rows.key(), batch);
      }
      step();
    }
    // A tombstone at the compacted revision stays for the same reason (C2). It goes last: what is
    // left after a stop still leads to the rest of the key.
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
