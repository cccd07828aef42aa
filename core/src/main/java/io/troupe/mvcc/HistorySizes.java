package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import org.jspecify.annotations.Nullable;

/**
 * Number and size of the records of {@link HistoryExport}, from one walk in the order of keys,
 * which is much faster than one in the order of revisions. No cursor stays open between two calls.
 * One thread at a time.
 */
public final class HistorySizes {
  /** Size of the longest revision key. */
  public static final int MOST_KEY_BYTES = 18;

  private final FrozenHistory at;
  private final StoreView view;
  private long records;
  private long bytes;
  private long mostBytesOfOne;

  private final byte[] head = new byte[RowCodec.HEADER_BYTES];

  /** The row that was counted last. */
  private @Nullable Bytes last;

  /** True if the version of the current key that a compaction keeps was seen. */
  private boolean keptSeen;

  /** Starts before the first record. */
  public HistorySizes(StoreView view, FrozenHistory at) {
    this.view = view;
    this.at = at;
  }

  /**
   * Counts the next rows.
   *
   * @param count maximum number of rows, 1 or more
   * @return false at the end
   */
  public boolean advance(int count) {
    Bytes from = last == null ? Bytes.EMPTY : last.concat(Bytes.of(0));
    try (Cursor rows = VersionCursor.open(view, from, null)) {
      for (int i = 0; i < count; i++) {
        if (!rows.next()) {
          return false;
        }
        count(rows);
      }
    }
    return true;
  }

  private void count(Cursor rows) {
    Bytes row = rows.key();
    if (last == null || !StoreKeys.sameKey(row, last)) {
      keptSeen = false;
    }
    last = row;
    long main = StoreKeys.main(row);
    boolean tombstone = StoreKeys.isTombstone(row);
    if (main > at.revision()) {
      return;
    }
    boolean live = !keptSeen && !tombstone;
    keptSeen |= main <= at.compactedRevision();
    if (main < at.compactedRevision() && !live) {
      return;
    }
    long message =
        tombstone ? EtcdRecord.tombstoneBytes(StoreKeys.userKey(row)) : messageBytes(row, rows);
    records++;
    bytes += EtcdRecord.keyBytes(tombstone) + message;
    mostBytesOfOne = Math.max(mostBytesOfOne, message + 3L * StoreKeys.userKey(row).length());
  }

  /** Reads the beginning of the value alone. */
  private long messageBytes(Bytes row, Cursor rows) {
    int length = rows.valueTo(head);
    Bytes start = Bytes.wrap(head, 0, Math.min(length, head.length));
    KeyValue kv = RowCodec.keyValue(row, start);
    return EtcdRecord.messageBytes(kv.withoutValue())
        + EtcdRecord.valueBytes(kv.value().length() + length - start.length());
  }

  /**
   * Memory of the largest record so far, in bytes: {@link HistoryExport} holds its value once and
   * its user key up to four times.
   */
  public long mostBytesOfOne() {
    return mostBytesOfOne;
  }

  /** Number of records so far. */
  public long records() {
    return records;
  }

  /** Bytes of keys and messages so far. */
  public long bytes() {
    return bytes;
  }
}
