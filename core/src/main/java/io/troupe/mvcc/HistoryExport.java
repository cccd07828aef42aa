package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The history of a frozen state in the order of revisions, as records of etcd's key bucket (8.6):
 * every change at or above the compacted revision, and of each key the version that was live at it.
 * Versions that a compaction makes obsolete are left out, whether they are removed yet or not.
 *
 * <p>Records are stored in the order of keys. So the export takes a window of changes, looks their
 * rows up in the order of keys, and returns them in the order of revisions. Memory: {@code
 * windowBytes}, and one record more. A record is not copied.
 *
 * <p>No cursor stays open between two windows. One thread at a time.
 */
public final class HistoryExport {
  private static final int FIRST_WINDOW = 1024;
  private static final int CHANGE_BYTES = 200;

  /** Copies of a user key: of the change, in its row, and while the row is looked up. */
  private static final int KEYS_OF_CHANGE = 3;

  // As in VersionIterator.
  private static final int STEPS_BEFORE_SEEK = 4;

  private final StoreView view;
  private final FrozenHistory at;
  private final long windowBytes;
  private final List<Change> window = new ArrayList<>();
  private @Nullable EtcdRecord record;
  private int next;
  private int windowChanges = FIRST_WINDOW;

  /** First change that no window has contained yet; null if there is none. */
  private @Nullable Bytes position = Bytes.EMPTY;

  /** A change whose record the window contains or looks up. */
  private static final class Change {
    final long main;
    final int sub;
    final Bytes userKey;

    /** Row of a put; null for a tombstone. */
    final @Nullable Bytes row;

    /** Null until it was looked up, and for a put that a compaction made obsolete. */
    @Nullable KeyValue found;

    Change(long main, int sub, Bytes userKey, boolean tombstone) {
      this.main = main;
      this.sub = sub;
      this.userKey = userKey;
      this.row = tombstone ? null : StoreKeys.row(userKey, main, sub, false);
    }

    Bytes rowOfPut() {
      if (row == null) {
        throw new IllegalStateException("a tombstone has no record");
      }
      return row;
    }

    int valueBytes() {
      return found == null ? 0 : found.value().length();
    }

    boolean isBefore(Change other) {
      return main != other.main ? main < other.main : sub < other.sub;
    }
  }

  /**
   * Starts before the first record.
   *
   * @param windowBytes maximum memory of a window, 1 or more; the records do not depend on it
   */
  public HistoryExport(StoreView view, FrozenHistory at, long windowBytes) {
    this.view = view;
    this.at = at;
    this.windowBytes = windowBytes;
  }

  /** Moves to the next record; false at the end. */
  public boolean next() {
    while (true) {
      while (next < window.size()) {
        if (encode(window.get(next++))) {
          return true;
        }
      }
      Bytes from = position;
      if (from == null) {
        return false;
      }
      fillWindow(from);
    }
  }

  /** Revision key of the current record. */
  public Bytes key() {
    return current().key();
  }

  /** Message of the current record: its parts, one after the other. */
  public List<Bytes> message() {
    return current().message();
  }

  private EtcdRecord current() {
    if (record == null) {
      throw new IllegalStateException("not at a record");
    }
    return record;
  }

  private boolean encode(Change change) {
    if (change.row == null) {
      record = EtcdRecord.tombstone(change.main, change.sub, change.userKey);
      return true;
    }
    KeyValue found = change.found;
    if (found != null) {
      record = EtcdRecord.put(found, change.sub);
      change.found = null;
      return true;
    }
    if (change.main >= at.compactedRevision()) {
      throw new StoreException("no row for a change of revision " + change.main);
    }
    return false;
  }

  private void fillWindow(Bytes from) {
    next = 0;
    window.clear();
    record = null;
    Bytes end = StoreKeys.revision(at.revision() + 1, 0);
    try (HistoryCursors cursors = HistoryCursors.open(view, from, end)) {
      position = takeChanges(cursors.changes());
      List<Change> puts = new ArrayList<>(window.size());
      for (Change change : window) {
        if (change.row != null) {
          puts.add(change);
        }
      }
      puts.sort(Comparator.comparing(Change::rowOfPut));
      lookUp(puts, new Rows(cursors.rows()));
    }
    windowChanges = (int) Math.min(Integer.MAX_VALUE, 2L * Math.max(1, window.size()));
  }

  /** Returns the first change that is not taken, or null. */
  private @Nullable Bytes takeChanges(Cursor changes) {
    long bytes = 0;
    while (changes.next()) {
      if (window.size() >= windowChanges || bytes > windowBytes / 2) {
        return changes.key();
      }
      long main = StoreKeys.revisionMain(changes.key());
      boolean tombstone = RowCodec.isTombstoneChange(changes.value());
      if (!tombstone || main >= at.compactedRevision()) {
        int sub = StoreKeys.revisionSub(changes.key());
        Bytes userKey = RowCodec.changedKey(changes.value());
        bytes += CHANGE_BYTES + (long) KEYS_OF_CHANGE * userKey.length();
        window.add(new Change(main, sub, userKey, tombstone));
      }
    }
    return null;
  }

  /** Looks the rows up. If their values exceed the memory, the window keeps its first half. */
  private void lookUp(List<Change> puts, Rows rows) {
    long bytes = 0;
    Change end = null;
    for (Change change : puts) {
      if (end != null && !change.isBefore(end)) {
        continue;
      }
      change.found = find(change, rows);
      bytes += change.valueBytes();
      if (bytes > windowBytes / 2 && window.size() > 1) {
        int kept = window.size() / 2;
        end = window.get(kept);
        position = StoreKeys.revision(end.main, end.sub);
        window.subList(kept, window.size()).clear();
        bytes = 0;
        for (Change each : window) {
          bytes += each.valueBytes();
        }
      }
    }
  }

  private @Nullable KeyValue find(Change change, Rows rows) {
    Bytes row = change.rowOfPut();
    boolean compacted = change.main < at.compactedRevision();
    boolean found =
        compacted ? rows.seekNewestAt(change.userKey, at.compactedRevision()) : rows.moveTo(row);
    return found && rows.cursor.key().equals(row)
        ? RowCodec.keyValue(row, rows.cursor.value())
        : null;
  }

  /** A walk over rows that are looked up in ascending order. */
  private static final class Rows {
    final VersionCursor cursor;
    private final RowBuffer row = new RowBuffer(256);
    private boolean onRow;

    Rows(VersionCursor cursor) {
      this.cursor = cursor;
    }

    boolean seekNewestAt(Bytes key, long main) {
      onRow = cursor.seekNewestAt(key, main);
      return onRow;
    }

    /** Moves to the first row at or after {@code from}, which is often one of the next rows. */
    boolean moveTo(Bytes from) {
      if (!onRow) {
        onRow = cursor.seek(from);
        return onRow;
      }
      for (int step = 0; onRow && row.key(cursor).compareTo(from) < 0; step++) {
        onRow = step < STEPS_BEFORE_SEEK ? cursor.next() : cursor.seek(from);
      }
      return onRow;
    }
  }
}
