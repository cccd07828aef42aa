package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import java.util.zip.CRC32C;

/**
 * The hash of the history (MT7) in its simplest form, the reference of {@link KvHashTest}: one
 * record after the other in the order of revisions, each looked up separately.
 */
final class OneByOneHash {
  private static final Bytes BUCKET = Bytes.utf8("key");

  private final Cursor changes;
  private final Cursor rows;
  private final long compactRevision;
  private final long hashRevision;
  private final CRC32C crc = new CRC32C();
  private byte[] buffer = new byte[512];

  OneByOneHash(Cursor changes, Cursor rows, long compactRevision, long hashRevision) {
    this.changes = changes;
    this.rows = rows;
    this.compactRevision = compactRevision;
    this.hashRevision = hashRevision;
  }

  private static void begin(CRC32C crc) {
    crc.update(BUCKET.backingArray(), BUCKET.backingOffset(), BUCKET.length());
  }

  int compute() {
    boolean anyLive = new VersionIterator(rows, hashRevision).next();
    begin(crc);
    while (changes.next()) {
      add(changes.key(), changes.value(), anyLive);
    }
    return (int) crc.getValue();
  }

  private void add(Bytes position, Bytes change, boolean anyLive) {
    long main = StoreKeys.revisionMain(position);
    boolean tombstone = RowCodec.isTombstoneChange(change);
    if (tombstone && main <= compactRevision) {
      return;
    }
    Bytes key = RowCodec.changedKey(change);
    int sub = StoreKeys.revisionSub(position);
    Bytes row = StoreKeys.row(key, main, sub, tombstone);
    if (main <= compactRevision) {
      // If no key is live, the records count that the compaction keeps.
      long keptAt = anyLive ? hashRevision : compactRevision;
      if (!rows.seek(StoreKeys.newestAt(key, keptAt)) || !rows.key().equals(row)) {
        return;
      }
    } else if (tombstone) {
      addRecord(main, sub, true, new KeyValue(key, 0, 0, 0, Bytes.EMPTY, 0));
      return;
    } else if (!rows.seek(row) || !rows.key().equals(row)) {
      throw new StoreException("no row for a change of revision " + main);
    }
    addRecord(main, sub, false, RowCodec.keyValue(row, rows.value()));
  }

  private void addRecord(long main, int sub, boolean tombstone, KeyValue kv) {
    ensure(128 + kv.key().length() + kv.value().length());
    StoreKeys.putLong(buffer, 0, main);
    buffer[8] = '_';
    StoreKeys.putLong(buffer, 9, sub);
    int at = 17;
    if (tombstone) {
      buffer[at++] = 't';
    }
    at = field(at, 1, kv.key());
    at = field(at, 2, kv.createRevision());
    at = field(at, 3, kv.modRevision());
    at = field(at, 4, kv.version());
    at = field(at, 5, kv.value());
    at = field(at, 6, kv.lease());
    crc.update(buffer, 0, at);
  }

  private void ensure(int size) {
    if (buffer.length < size) {
      buffer = new byte[Math.max(size, 2 * buffer.length)];
    }
  }

  /** Protobuf: absent fields are omitted. */
  private int field(int at, int number, long value) {
    if (value == 0) {
      return at;
    }
    buffer[at] = (byte) (number << 3);
    return varint(at + 1, value);
  }

  private int field(int at, int number, Bytes value) {
    if (value.isEmpty()) {
      return at;
    }
    buffer[at] = (byte) (number << 3 | 2);
    return value.copyTo(buffer, varint(at + 1, value.length()));
  }

  private int varint(int at, long value) {
    long rest = value;
    int to = at;
    while ((rest & ~0x7fL) != 0) {
      buffer[to++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    buffer[to++] = (byte) rest;
    return to;
  }
}
