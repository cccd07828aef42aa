package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * Reads of single keys at published revisions: from memory if the newest record is there and old
 * enough, otherwise from the store. For any number of threads concurrent with the writer.
 */
final class PointReads {
  private final OrderedStore store;
  private final ReadViewPublisher view;
  private final RecordCache records;

  PointReads(OrderedStore store, ReadViewPublisher view, RecordCache records) {
    this.store = store;
    this.view = view;
    this.records = records;
  }

  /**
   * The record of a key at a published revision if that is its newest record and in memory, also
   * one that is {@link NewestRecord#isAbsent}; null if only {@link #at} can tell. Reads no file.
   */
  @Nullable NewestRecord inMemory(Bytes key, long at) {
    return notAfter(records.find(key), at);
  }

  private static @Nullable NewestRecord notAfter(@Nullable NewestRecord newest, long at) {
    return newest != null && newest.kv().modRevision() <= at ? newest : null;
  }

  /**
   * The record of a key at a published revision; an {@link NewestRecord#absent} record if the key
   * is not live.
   */
  NewestRecord at(Bytes key, long at) {
    NewestRecord known = records.find(key);
    NewestRecord current = notAfter(known, at);
    if (current != null) {
      return current;
    }
    // Only a read of the newest state returns the newest record.
    boolean newest = known == null && at == view.get().revision();
    NewestRecord found = load(key, at);
    if (newest) {
      records.loaded(found, at);
    }
    return found;
  }

  /** The record of a key in {@link Space#LATEST}, or null. */
  @Nullable NewestRecord latest(Bytes key) {
    Bytes latest = store.get(Space.LATEST, key);
    return latest == null ? null : RowCodec.latest(Bytes.wrap(key.toArray()), latest);
  }

  private NewestRecord load(Bytes key, long at) {
    NewestRecord newest = notAfter(latest(key), at);
    if (newest != null) {
      return newest;
    }
    // A version that was replaced after LATEST was read is here too.
    Bytes from = StoreKeys.newestAt(key, at);
    try (Cursor rows = store.cursor(Space.KEY, from, StoreKeys.after(key), false)) {
      return rows.next() && !StoreKeys.isTombstone(rows.key())
          ? new NewestRecord(RowCodec.keyValue(rows.key(), rows.value()), NewestRecord.IN_HISTORY)
          : NewestRecord.absent(Bytes.wrap(key.toArray()), at);
    }
  }
}
