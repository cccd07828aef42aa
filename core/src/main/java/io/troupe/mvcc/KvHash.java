package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import java.util.zip.CRC32C;

/**
 * The hash of the history that exists at a revision (MT7), in the form that etcd members compute:
 * every record counts as its revision key and its protobuf encoding. Versions that a compaction
 * makes obsolete never count, whether they are removed yet or not.
 *
 * <p>Records count in the order of revisions but are stored in the order of keys, and looking them
 * up one by one reads a block of the store for each. So the changes are processed in windows: one
 * walk over the keys that a window changed computes a checksum for each record, and the checksums
 * are joined in the order of revisions. If a window changed few of many keys, seeks replace the
 * walk.
 */
final class KvHash {
  private static final Bytes BUCKET = Bytes.utf8("key");

  // As in VersionIterator.
  private static final int STEPS_BEFORE_SEEK = 4;

  /** A seek costs about as much as ten steps. */
  private static final long MOST_STEPS_FOR_A_CHANGE = 8;

  private final Cursor changes;
  private final VersionCursor rows;
  private final long compactRevision;
  private final long hashRevision;
  private final HashWindow window;
  private final CRC32C crc = new CRC32C();

  /** The record that is summed, if it is small: a new array for each would be much garbage. */
  private final byte[] record = new byte[EtcdRecord.SMALL_BYTES];

  private final RowBuffer position = new RowBuffer(16);
  private final RowBuffer value = new RowBuffer(1024);

  /** The newest row of a key and the current one: each has one of these. */
  private RowBuffer newestRow = new RowBuffer(256);

  private RowBuffer currentRow = new RowBuffer(256);

  /** True if {@link #changes} is at a change that no window contains yet. */
  private boolean onChange;

  /** Revision at which a version must be the newest if it is not above the compacted revision. */
  private long keptAt;

  /**
   * Prepares a hash.
   *
   * @param changes over the revision space up to the hash revision
   * @param rows over all versions
   * @param window an empty one, for the changes that are hashed in one walk; the hash does not
   *     depend on its size
   */
  KvHash(
      Cursor changes,
      VersionCursor rows,
      long compactRevision,
      long hashRevision,
      HashWindow window) {
    this.changes = changes;
    this.rows = rows;
    this.compactRevision = compactRevision;
    this.hashRevision = hashRevision;
    this.window = window;
  }

  /** The hash of no records. */
  static int ofNothing() {
    CRC32C crc = new CRC32C();
    begin(crc);
    return (int) crc.getValue();
  }

  private static void begin(CRC32C crc) {
    crc.update(BUCKET.backingArray(), BUCKET.backingOffset(), BUCKET.length());
  }

  /** Computes a hash of the content of these cursors, which stay open. */
  static int compute(
      HistoryCursors cursors, long compactRevision, long hashRevision, HashWindows windows) {
    HashWindow window = windows.take();
    int hash =
        new KvHash(cursors.changes(), cursors.rows(), compactRevision, hashRevision, window)
            .compute();
    windows.giveBack(window);
    return hash;
  }

  int compute() {
    // If no key is live, the records count that the compaction keeps.
    keptAt = new VersionIterator(rows, hashRevision).next() ? hashRevision : compactRevision;
    begin(crc);
    int sum = (int) crc.getValue();
    onChange = changes.next();
    while (onChange) {
      takeChanges();
      Bytes least = window.leastKey();
      Bytes greatest = window.greatestKey();
      if (least != null
          && greatest != null
          && !sumRows(least, StoreKeys.after(greatest), MOST_STEPS_FOR_A_CHANGE * window.size())) {
        seekRows();
      }
      sum = join(sum);
    }
    return sum;
  }

  /** Fills the window with the next changes. */
  private void takeChanges() {
    window.clear();
    while (onChange) {
      Bytes revision = position.key(changes);
      long main = StoreKeys.revisionMain(revision);
      if (!window.hasPlaceFor(main)) {
        return;
      }
      Bytes change = value.value(changes);
      Bytes key = RowCodec.changedKey(change);
      int sub = StoreKeys.revisionSub(revision);
      if (!RowCodec.isTombstoneChange(change)) {
        window.add(main, sub);
        window.expect(key);
      } else if (main > compactRevision) {
        window.add(main, sub);
        sum(EtcdRecord.tombstone(main, sub, key), window.size() - 1);
      }
      onChange = changes.next();
    }
  }

  /**
   * Computes the checksums of the window's changes in a walk over all versions of the keys in
   * between.
   *
   * @return false if that takes more steps: the window changed few of many keys
   */
  private boolean sumRows(Bytes leastKey, Bytes after, long mostSteps) {
    long first = window.firstRevision();
    long last = window.lastRevision();
    boolean found = rows.seek(StoreKeys.firstOf(leastKey));
    Bytes newest = null;
    boolean keptSeen = false;
    int idle = 0;
    for (long steps = 0; found; steps++) {
      Bytes row = currentRow.key(rows);
      if (newest == null || !StoreKeys.sameKey(row, newest)) {
        if (row.compareTo(after) >= 0) {
          return true;
        }
        if (steps > mostSteps) {
          return false;
        }
        newest = row;
        RowBuffer free = newestRow;
        newestRow = currentRow;
        currentRow = free;
        keptSeen = false;
        idle = 0;
      }
      long main = StoreKeys.main(row);
      boolean kept = !keptSeen && main <= keptAt;
      keptSeen |= kept;
      boolean wanted = main >= first && main <= last;
      if (wanted && !StoreKeys.isTombstone(row) && (kept || main > compactRevision)) {
        sumRow(row, main);
      }
      idle = wanted ? 0 : idle + 1;
      if (idle <= STEPS_BEFORE_SEEK) {
        found = rows.next();
      } else if (main < first) {
        found = rows.seek(StoreKeys.afterRow(row));
      } else {
        found = rows.seek(StoreKeys.newestAtOfRow(row, keptSeen ? last : Math.max(last, keptAt)));
        idle = 0;
      }
    }
    return true;
  }

  /**
   * Computes the checksums that {@link #sumRows} did not reach, with a seek for each change. Walks
   * over the window's changes again, and leaves their cursor where it was.
   */
  private void seekRows() {
    onChange = changes.seek(StoreKeys.revision(window.firstRevision(), 0));
    int place = 0;
    while (onChange && place < window.size()) {
      Bytes revision = position.key(changes);
      long main = StoreKeys.revisionMain(revision);
      int sub = StoreKeys.revisionSub(revision);
      if (main == window.revision(place) && sub == window.sub(place)) {
        if (!window.isKnown(place)) {
          seekRow(place, RowCodec.changedKey(value.value(changes)), main, sub);
        }
        place++;
      }
      onChange = changes.next();
    }
  }

  private void seekRow(int place, Bytes key, long main, int sub) {
    Bytes row = StoreKeys.row(key, main, sub, false);
    boolean found =
        main <= compactRevision
            ? rows.seekNewestAt(key, keptAt) && rows.key().equals(row)
            : rows.seekExactly(key, row);
    if (found) {
      sumPut(RowCodec.keyValue(row, value.value(rows)), sub, place);
    }
  }

  private void sumRow(Bytes row, long main) {
    int sub = StoreKeys.sub(row);
    int place = window.findUnknown(main, sub);
    if (place >= 0) {
      sumPut(RowCodec.keyValue(row, value.value(rows)), sub, place);
    }
  }

  /** Joins the checksums of the window with the one of all records before. */
  private int join(int before) {
    int sum = before;
    for (int place = 0; place < window.size(); place++) {
      if (window.isKnown(place)) {
        sum = window.join(sum, place);
      } else if (window.revision(place) > compactRevision) {
        throw new StoreException("no row for a change of revision " + window.revision(place));
      }
    }
    return sum;
  }

  private void sumPut(KeyValue kv, int sub, int place) {
    if (!EtcdRecord.isSmall(kv)) {
      sum(EtcdRecord.put(kv, sub), place);
      return;
    }
    int length = EtcdRecord.writeSmall(kv, sub, record);
    crc.reset();
    crc.update(record, 0, length);
    window.set(place, (int) crc.getValue(), length);
  }

  private void sum(EtcdRecord large, int place) {
    crc.reset();
    large.addTo(crc);
    window.set(place, (int) crc.getValue(), large.length());
  }
}
