package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * An entry whose changes are only partly in the store, because they are written in several batches
 * and the last one is missing. The rows of its revision are above the base revision, so reads at
 * the base revision ignore them; {@link #undo} removes them before the entry is applied again from
 * the log.
 *
 * <p>The versions that are visible at the base revision all still exist: compaction never removes
 * the newest version at or below the compacted revision, and that one is at most the base revision.
 *
 * @param base current revision before the entry
 * @param schema schema of the rows, which is restored after the entry
 */
record PartialEntry(long base, long schema) {
  /**
   * Rows that one batch of {@link #undo} restores, and size in bytes at which the batch is written.
   */
  private static final int UNDO_ROWS = 4096;

  private static final long UNDO_BYTES = 2 << 20;

  /** The partial entry of a store, or null if its last entry is complete. */
  static @Nullable PartialEntry find(StoreView store) {
    Bytes row = store.get(Space.META, StoreKeys.META_PARTIAL);
    return row == null
        ? null
        : new PartialEntry(StoreKeys.getLong(row, 0), StoreKeys.getLong(row, 8));
  }

  /** Adds the rows that mark the store, and the new revision, to the first batch of the entry. */
  void begin(PendingChanges batch) {
    batch.put(Space.META, StoreKeys.META_PARTIAL, RowCodec.longs(base, schema));
    batch.put(Space.META, StoreKeys.META_SCHEMA, StoreSchema.row(StoreKeys.SCHEMA_PARTIAL));
    // This row shows a walk over the newest records that they are not those of the base revision.
    batch.put(Space.LATEST, StoreKeys.LATEST_REVISION, RowCodec.longs(base + 1));
  }

  /** Adds the rows that remove the mark to the last batch of the entry. */
  void end(PendingChanges batch) {
    batch.remove(Space.META, StoreKeys.META_PARTIAL);
    batch.put(Space.META, StoreKeys.META_SCHEMA, StoreSchema.row(schema));
  }

  /**
   * Restores the base revision of the store, in several batches; memory does not grow with the size
   * of the entry. After a crash in between, less is left to undo.
   */
  void undo(OrderedStore store) {
    while (undoBatch(store)) {
      // The next batch restores the next rows.
    }
    StoreBatch last = new StoreBatch();
    last.put(Space.LATEST, StoreKeys.LATEST_REVISION, RowCodec.longs(base));
    last.delete(Space.META, StoreKeys.META_PARTIAL);
    last.put(Space.META, StoreKeys.META_SCHEMA, StoreSchema.row(schema));
    store.write(last);
  }

  private boolean undoBatch(OrderedStore store) {
    StoreBatch batch = new StoreBatch();
    long bytes = 0;
    Bytes from = StoreKeys.revision(base + 1, 0);
    try (HistoryCursors cursors = HistoryCursors.open(store, from, null)) {
      Cursor changes = cursors.changes();
      for (int i = 0; i < UNDO_ROWS && bytes < UNDO_BYTES && changes.next(); i++) {
        Bytes key = RowCodec.changedKey(changes.value());
        boolean tombstone = RowCodec.isTombstoneChange(changes.value());
        Bytes row = StoreKeys.row(key, base + 1, StoreKeys.revisionSub(changes.key()), tombstone);
        NewestRecord before = newestAtBase(cursors.rows(), key);
        if (!tombstone && cursors.rows().seekExactly(key, row)) {
          detach(batch, key, RowCodec.leaseOf(cursors.rows().value()), before);
        }
        discardNewest(store, batch, key, before);
        restore(batch, key, before);
        batch.delete(Space.KEY, row);
        batch.delete(Space.REV, changes.key());
        bytes += before == null ? 0 : before.kv().value().length();
      }
    }
    if (batch.isEmpty()) {
      return false;
    }
    store.write(batch);
    return true;
  }

  private @Nullable NewestRecord newestAtBase(VersionCursor rows, Bytes key) {
    boolean found = rows.seekNewestAt(key, base) && !StoreKeys.isTombstone(rows.key());
    return found
        ? new NewestRecord(RowCodec.keyValue(rows.key(), rows.value()), StoreKeys.sub(rows.key()))
        : null;
  }

  private static void restore(StoreBatch batch, Bytes key, @Nullable NewestRecord before) {
    if (before == null) {
      batch.delete(Space.LATEST, key);
      return;
    }
    // Its row of KEY stays: a reader that has frozen LATEST may still look for it there.
    batch.put(Space.LATEST, key, RowCodec.latest(before.kv(), before.sub()));
    long lease = before.kv().lease();
    if (lease != 0) {
      batch.put(Space.LEASE, StoreKeys.attachment(lease, key), Bytes.EMPTY);
    }
  }

  /**
   * The newest version of the key is replaced by the one before the entry. Only this row has it, so
   * the undo of its own change may not find it any more.
   */
  private void discardNewest(
      OrderedStore store, StoreBatch batch, Bytes key, @Nullable NewestRecord before) {
    Bytes latest = store.get(Space.LATEST, key);
    if (latest != null) {
      KeyValue newest = RowCodec.latest(key, latest).kv();
      if (newest.modRevision() > base) {
        detach(batch, key, newest.lease(), before);
      }
    }
  }

  /** Reverts the attachment of the key to a lease by a put of the partial entry. */
  private static void detach(
      StoreBatch batch, Bytes key, long lease, @Nullable NewestRecord before) {
    if (lease != 0 && (before == null || before.kv().lease() != lease)) {
      batch.delete(Space.LEASE, StoreKeys.attachment(lease, key));
    }
  }
}
