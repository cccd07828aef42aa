package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Invariant;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rows that applied entries changed and that are not in the store yet. Rows of several small
 * entries are written in one batch. An entry whose rows exceed the memory limit is written in
 * several batches: the first one marks the store (see {@link PartialEntry}), and the last one
 * contains the applied index. Readers see nothing of it before that. For the applying thread.
 */
final class EntryRows {
  private final OrderedStore store;
  private final RecordCache records;
  private final PendingChanges pending;
  private final EffectDigest digest;
  private final long batchBytes;

  /**
   * Newest records of keys that changed since the last batch. A new map for each batch: one that
   * was cleared keeps the table of its largest batch, which the next batches walk over.
   */
  private Map<Bytes, NewestRecord> changed = new HashMap<>();

  /** Rows of the current entry that are neither keys nor revisions; written in its last batch. */
  private final List<StoreBatch.Change> otherRows = new ArrayList<>();

  private @Nullable PartialEntry partial;

  /** True until the partial entry found at opening is undone. */
  private boolean undoes;

  EntryRows(OrderedStore store, RecordCache records, EffectDigest digest, long batchBytes) {
    this.store = store;
    this.records = records;
    this.digest = digest;
    this.batchBytes = batchBytes;
    this.pending = new PendingChanges(store);
    this.partial = PartialEntry.find(store);
    this.undoes = partial != null;
  }

  /** Revision of the complete entries in the store, after {@code newest} was written. */
  long completeRevision(long newest) {
    return partial == null ? newest : partial.base();
  }

  /** Schema of the complete entries in the store, which has the row {@code stored}. */
  long completeSchema(long stored) {
    return partial == null ? stored : partial.schema();
  }

  /** Revision of the rows in the store, of which {@code published} is complete. */
  long storedRevision(long published) {
    return partial == null ? published : partial.base() + 1;
  }

  /** Removes the partial entry that a crash left; the entry is applied again from the log. */
  void undoPartialEntry() {
    if (undoes && partial != null) {
      partial.undo(store);
      partial = null;
      undoes = false;
    }
  }

  /** Approximate memory of the rows. */
  long bytes() {
    return pending.bytes();
  }

  /** True if the current entry is partly in the store: it is completed with a separate batch. */
  boolean isPartial() {
    return partial != null;
  }

  /** Newest record of a key that changed since the last batch, or null. */
  @Nullable NewestRecord find(Bytes key) {
    return changed.get(key);
  }

  /** A cursor that includes these rows; the caller closes it before the next change. */
  Cursor cursor(Space space, Bytes from, @Nullable Bytes toExclusive) {
    return pending.cursor(space, from, toExclusive);
  }

  void set(Space space, Bytes key, Bytes value) {
    digest.changed(space, key, value);
    pending.put(space, key, value);
  }

  void erase(Space space, Bytes key) {
    digest.changed(space, key, null);
    pending.remove(space, key);
  }

  /** Sets a row that is neither a key nor a revision, or removes it if {@code value} is null. */
  void setOther(Space space, Bytes key, @Nullable Bytes value) {
    Invariant.require(
        space == Space.META || space == Space.LEASE, "versions are written only by put and delete");
    digest.changed(space, key, value);
    otherRows.add(new StoreBatch.Change(space, key, value));
  }

  /** Records the newest record of a key, or one that is {@link NewestRecord#isAbsent}. */
  void changed(NewestRecord newest) {
    changed.put(newest.kv().key(), newest);
  }

  /**
   * Adds a version of a key to the digest. LATEST alone contains it until the next change of the
   * key.
   *
   * @param row as in KEY
   */
  void addVersion(Bytes row, Bytes value) {
    digest.changed(Space.KEY, row, value);
  }

  /** The newest version so far, which the current entry replaces, becomes part of the history. */
  void moveToHistory(NewestRecord former) {
    if (former.sub() != NewestRecord.IN_HISTORY) {
      pending.put(Space.KEY, former.row(), former.value());
    }
  }

  /** Sets the schema, with the last batch of the current entry. */
  void setSchema(long schema) {
    digest.changed(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(schema));
    otherRows.add(
        new StoreBatch.Change(Space.META, StoreKeys.META_SCHEMA, StoreSchema.row(schema)));
  }

  /** Adds an internal row of the store, which is not an effect of an entry. */
  void putOwn(Space space, Bytes key, Bytes value) {
    pending.put(space, key, value);
  }

  /** Removes an internal row. */
  void removeOwn(Space space, Bytes key) {
    pending.remove(space, key);
  }

  /** True if the batch is full and must be written before the next change. */
  boolean isFull() {
    return pending.bytes() >= batchBytes;
  }

  /**
   * Writes the pending rows in the middle of an entry.
   *
   * @param revision current revision before the entry
   * @param applied the row of the last complete entry
   */
  void writePart(long revision, Bytes applied) {
    if (partial == null) {
      partial = new PartialEntry(revision, schema());
      partial.begin(pending);
      pending.put(Space.META, StoreKeys.META_APPLIED, applied);
    }
    write(revision + 1);
  }

  private long schema() {
    try (Cursor row =
        pending.cursor(Space.META, StoreKeys.META_SCHEMA, StoreKeys.META_SCHEMA.successor())) {
      Invariant.require(row.next(), "the state has no schema");
      return StoreSchema.of(row.value());
    }
  }

  /** The current entry is complete. */
  void endEntry() {
    for (StoreBatch.Change row : otherRows) {
      Bytes value = row.value();
      if (value == null) {
        pending.remove(row.space(), row.key());
      } else {
        pending.put(row.space(), row.key(), value);
      }
    }
    otherRows.clear();
  }

  /** Writes the last batch of complete entries; {@code revision} is current afterwards. */
  void writeComplete(long revision, Bytes applied) {
    pending.put(Space.META, StoreKeys.META_APPLIED, applied);
    if (partial != null) {
      partial.end(pending);
      partial = null;
    }
    write(revision);
  }

  private void write(long revision) {
    pending.write();
    for (NewestRecord newest : changed.values()) {
      records.committed(newest, revision);
    }
    changed = new HashMap<>();
  }
}
