package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import org.jspecify.annotations.Nullable;

/**
 * Builds a state from the records of etcd's key bucket (8.6), the inverse of {@link HistoryExport}.
 * First come the leases, then {@link #add} for each record in the order of revisions, then {@link
 * #finish}. The store is empty before. Memory: one batch. One thread.
 */
public final class HistoryImport {
  private static final long BATCH_BYTES = 4 << 20;
  private static final int SUB_AT = 9;
  private static final int REVISION_BYTES = 17;

  private final OrderedStore store;
  private StoreBatch batch = new StoreBatch();
  private long batchBytes;
  private long records;
  private long newest = MvccStore.FIRST_REVISION;

  /**
   * Position of the finished state.
   *
   * @param revision current revision, at least that of the newest record
   * @param compactedRevision -1 if nothing was compacted
   * @param compactionFinished up to which obsolete versions are removed, at most {@code
   *     compactedRevision}
   * @param appliedIndex log index that the state contains, 1 or more
   * @param appliedTerm term of that entry
   */
  public record Position(
      long revision,
      long compactedRevision,
      long compactionFinished,
      long appliedIndex,
      long appliedTerm) {}

  /** Writes to an empty store. */
  public HistoryImport(OrderedStore store) {
    this.store = store;
  }

  /**
   * The change of one record.
   *
   * @param userKey empty for a record without a change, which etcdutl adds when it raises the
   *     revision
   */
  public record Change(long revision, boolean deletion, Bytes userKey) {}

  /**
   * Reads a record.
   *
   * @throws IllegalArgumentException if the record is malformed; the message says how
   */
  public static Change change(Bytes revision, Bytes message) {
    return new Change(
        StoreKeys.getLong(revision, 0), isTombstone(revision), EtcdRecord.decode(message).key());
  }

  /**
   * Adds a record.
   *
   * @param revision the revision key, above that of the record before
   * @param message {@code mvccpb.KeyValue}; empty for a record without a change, which etcdutl adds
   *     when it raises the revision
   * @throws IllegalArgumentException if the record is malformed; the message says how
   */
  public void add(Bytes revision, Bytes message) {
    boolean tombstone = isTombstone(revision);
    long main = StoreKeys.getLong(revision, 0);
    long sub = StoreKeys.getLong(revision, SUB_AT);
    if (main < 0 || sub < 0 || sub > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("revision " + main + "_" + sub + " is out of range");
    }
    newest = Math.max(newest, main);
    records++;
    if (message.isEmpty()) {
      return;
    }
    KeyValue kv = EtcdRecord.decode(message);
    if (kv.key().isEmpty() || (!tombstone && kv.modRevision() != main)) {
      throw new IllegalArgumentException("the record of revision " + main + " is inconsistent");
    }
    Bytes row = StoreKeys.row(kv.key(), main, (int) sub, tombstone);
    Bytes value =
        tombstone
            ? Bytes.EMPTY
            : RowCodec.record(kv.createRevision(), kv.version(), kv.lease(), kv.value());
    put(Space.KEY, row, value);
    put(
        Space.REV,
        StoreKeys.revision(main, (int) sub),
        tombstone ? RowCodec.deletion(kv.key()) : RowCodec.put(kv.version(), kv.key()));
  }

  /** A number of eight bytes, the highest first. */
  public static long number(Bytes row, int at) {
    return StoreKeys.getLong(row, at);
  }

  private static boolean isTombstone(Bytes revision) {
    boolean marked = revision.length() == REVISION_BYTES + 1;
    boolean valid =
        (marked || revision.length() == REVISION_BYTES)
            && revision.at(8) == '_'
            && (!marked || revision.at(REVISION_BYTES) == 't');
    if (!valid) {
      throw new IllegalArgumentException("a revision key of " + revision.length() + " bytes");
    }
    return marked;
  }

  /** Adds a row that does not depend on records: a lease, a member, a user and the like. */
  public void put(Space space, Bytes key, Bytes value) {
    batch.put(space, key, value);
    batchBytes += key.length() + value.length();
    if (batchBytes >= BATCH_BYTES) {
      flush();
    }
  }

  /** Writes what was put so far, so that reads of the store find it. */
  public void flush() {
    store.write(batch);
    batch = new StoreBatch();
    batchBytes = 0;
  }

  /** Number of records so far. */
  public long records() {
    return records;
  }

  /** Greatest revision of a record; 1 if there is none. */
  public long newestRevision() {
    return newest;
  }

  /**
   * Derives the newest records and the keys of leases, and writes the position. The state is
   * complete afterwards, once the store is flushed.
   */
  public void finish(Position at) {
    flush();
    BlockBuilder blocks = new BlockBuilder(CountBounds.ofHeap());
    try (Cursor rows = store.cursor(Space.KEY, Bytes.EMPTY, null, false)) {
      @Nullable Bytes last = null;
      while (rows.next()) {
        Bytes row = rows.key();
        if ((last == null || !StoreKeys.sameKey(row, last)) && !StoreKeys.isTombstone(row)) {
          addNewest(row, RowCodec.keyValue(row, rows.value()));
          blocks.add(StoreKeys.userKey(row));
        }
        last = row;
      }
    }
    KeyCounting.write(store, blocks.finish());
    put(Space.LATEST, StoreKeys.LATEST_REVISION, RowCodec.longs(at.revision()));
    put(
        Space.META,
        StoreKeys.META_APPLIED,
        CountRows.applied(at.appliedIndex(), at.appliedTerm(), 0, 1));
    if (store.get(Space.META, StoreKeys.META_SCHEMA) == null) {
      put(Space.META, StoreKeys.META_SCHEMA, StoreSchema.row(StoreKeys.SCHEMA));
    }
    if (at.compactedRevision() >= 0) {
      put(Space.META, StoreKeys.META_COMPACTED, RowCodec.longs(at.compactedRevision()));
    }
    if (at.compactionFinished() >= 0) {
      put(Space.META, StoreKeys.META_COMPACTION_FINISHED, RowCodec.longs(at.compactionFinished()));
    }
    flush();
  }

  /** The newest version is stored in LATEST alone. */
  private void addNewest(Bytes row, KeyValue kv) {
    put(Space.LATEST, kv.key(), RowCodec.latest(kv, StoreKeys.sub(row)));
    batch.delete(Space.KEY, row);
    boolean leased = kv.lease() != 0 && store.get(Space.LEASE, MetaRows.grant(kv.lease())) != null;
    if (leased) {
      put(Space.LEASE, StoreKeys.attachment(kv.lease(), kv.key()), Bytes.EMPTY);
    }
  }
}
