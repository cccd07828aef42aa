package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.Invariant;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The writer's side of the multi-version store: one thread. Changes gather in memory, where this
 * class already sees them, until {@link #commit} writes them in one batch together with the applied
 * index and makes them visible to readers.
 *
 * <p>One changing request is one main revision (R2): call {@link #put} and {@link #delete} for its
 * changes in order, then {@link #finish}. Requests are checked before: this class does not undo
 * changes.
 */
public final class MvccStore implements KvRead, AutoCloseable {
  /** R1: the revision of a store before its first change. */
  static final long FIRST_REVISION = 1;

  static final long NOTHING_COMPACTED = -1;

  private final OrderedStore store;
  private final RecordCache records;
  private final ReadViewPublisher view;
  private final MvccReader reader;
  private final WriterReads reads;
  private final Compactor compactor;
  private final CompactionHashes hashes = new CompactionHashes();
  private final EntryRows rows;
  private final EntryBounds bounds;
  private final EffectDigest digest;
  private final LiveBlocks blocks;
  private final CountHistory countHistory;
  private final long creationsSince;

  private final RevisionEvents events;
  private long schema;

  /** Changes of keys since the program started. */
  private long changes;

  private long revision;
  private long compacted;
  private long compactedBefore;
  private long appliedIndex;
  private long appliedTerm;
  private boolean revisionMoved;

  /**
   * Opens the content of the store; an empty store is initialized (R1). If the content has no
   * counts of live keys, it is counted, which takes long ({@link KeyCounting}).
   *
   * @param store outlives this object and is closed by its owner
   * @param cacheBytes memory limit for newest records
   * @throws StoreException if the store has another schema, or is damaged
   */
  public MvccStore(
      OrderedStore store, long cacheBytes, EntryBounds bounds, CountBounds countBounds) {
    this.store = store;
    this.bounds = bounds;
    this.events = new RevisionEvents(bounds.eventBytes());
    this.records = new RecordCache(cacheBytes);
    Bytes stored = store.get(Space.META, StoreKeys.META_SCHEMA);
    if (stored != null) {
      StoreSchema.open(store, stored);
    }
    KeyCounting.runIfNeeded(store, countBounds, keys -> {});
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    this.appliedIndex = applied == null ? 0 : StoreKeys.getLong(applied, 0);
    this.appliedTerm = applied == null ? 0 : StoreKeys.getLong(applied, 8);
    this.digest = new EffectDigest(applied == null ? 0 : StoreKeys.getLong(applied, 16));
    this.creationsSince = applied == null ? FIRST_REVISION : CountRows.creationsSince(applied);
    this.blocks = new LiveBlocks(KeyCounting.blocks(store, countBounds), countBounds);
    this.countHistory = new CountHistory(countBounds);
    this.rows = new EntryRows(store, records, digest, bounds.batchBytes());
    if (applied == null) {
      rows.putOwn(Space.META, CountRows.key(Bytes.EMPTY), CountRows.value(0));
    }
    if (stored == null) {
      rows.putOwn(Space.META, StoreKeys.META_SCHEMA, StoreSchema.row(StoreKeys.SCHEMA));
      this.schema = StoreKeys.SCHEMA;
    } else {
      this.schema = rows.completeSchema(StoreSchema.of(stored));
    }
    long newest = number(Space.LATEST, StoreKeys.LATEST_REVISION, FIRST_REVISION);
    this.revision = rows.completeRevision(newest);
    this.compacted = number(Space.META, StoreKeys.META_COMPACTED, NOTHING_COMPACTED);
    this.compactedBefore = compacted;
    requireNothingAbove(newest);
    this.view = new ReadViewPublisher(position());
    this.reader = new MvccReader(store, view, records, hashes, creationsSince);
    CountChanges changes =
        new CountChanges(
            store,
            (after, to) -> rows.cursor(Space.REV, StoreKeys.revision(after + 1, 0), to),
            creationsSince);
    this.reads = new WriterReads(rows, records, view, reader, blocks, changes);
    long finished = number(Space.META, StoreKeys.META_COMPACTION_FINISHED, NOTHING_COMPACTED);
    this.compactor = new Compactor(store, view, finished);
  }

  private long number(Space space, Bytes key, long whenAbsent) {
    Bytes value = store.get(space, key);
    return value == null ? whenAbsent : StoreKeys.getLong(value, 0);
  }

  private void requireNothingAbove(long current) {
    try (Cursor last = store.cursor(Space.REV, Bytes.EMPTY, null, true)) {
      if (last.next()) {
        Invariant.require(
            StoreKeys.revisionMain(last.key()) <= current, "stored change is above the revision");
      }
    }
  }

  /** For any thread. */
  public MvccReader reader() {
    return reader;
  }

  /** Removes compacted versions; for any one thread concurrent with the writer. */
  public Compactor compactor() {
    return compactor;
  }

  /** Index of the last entry passed to {@link #applied}. */
  public long appliedIndex() {
    return appliedIndex;
  }

  /** Term of the last entry passed to {@link #applied}. */
  public long appliedTerm() {
    return appliedTerm;
  }

  /** Digest of the effects of all entries up to {@link #appliedIndex}; equal on all members. */
  public long digest() {
    return digest.value();
  }

  /** Current main revision; changes of an unfinished request do not count. */
  @Override
  public long revision() {
    return revision;
  }

  /**
   * Revision for the header of a response: the new one from the first change of a request on (R6).
   */
  public long headerRevision() {
    return events.count() == 0 ? revision : revision + 1;
  }

  @Override
  public long compactedRevision() {
    return compacted;
  }

  // ---- reads of the writer ----

  @Override
  public @Nullable KeyValue get(Bytes key) {
    return reads.get(key);
  }

  @Override
  public void scan(KeyRange range, boolean whole, Predicate<KeyValue> more) {
    reads.scan(range, whole, more);
  }

  /**
   * Executes a read whose revision is already checked (X10): 0 or less is the newest state.
   *
   * @param share counts the records
   * @throws MemoryBudget.Exceeded if they do not fit
   */
  public RangeResult range(RangeQuery query, MemoryBudget.Share share) {
    return reads.range(query, share, revision, headerRevision());
  }

  /** True if {@code test} holds for every key attached to a lease, also if there is none. */
  public boolean allAttached(long lease, Predicate<Bytes> test) {
    return reads.allAttached(lease, test);
  }

  // ---- changes ----

  /**
   * Writes a new version of a key (R4, P4).
   *
   * @param lease exists, or 0
   * @return the previous record, or null
   */
  public @Nullable KeyValue put(Bytes key, Bytes value, long lease) {
    writePartWhenFull();
    NewestRecord former = reads.newest(key);
    KeyValue old = former == null ? null : former.kv();
    digest.replaced(old);
    long main = revision + 1;
    int sub = events.count();
    long create = old == null ? main : old.createRevision();
    long version = old == null ? 1 : old.version() + 1;
    if (old == null) {
      blocks.created(key);
    }
    // Key and value are copied, so that the cache does not keep the memory of a request.
    Bytes row = StoreKeys.row(key, main, sub, false);
    Bytes latest = RowCodec.latest(new KeyValue(key, create, main, version, value, lease), sub);
    NewestRecord newest = RowCodec.latest(StoreKeys.userKey(row), latest);
    KeyValue kv = newest.kv();
    rows.addVersion(row, RowCodec.versionOfLatest(latest));
    if (former != null) {
      rows.moveToHistory(former);
    }
    rows.set(Space.REV, StoreKeys.revision(main, sub), RowCodec.put(version, key));
    changes++;
    moveLease(key, old == null ? 0 : old.lease(), lease);
    rows.set(Space.LATEST, kv.key(), latest);
    rows.changed(newest);
    if (events.areKept()) {
      events.add(new Event(Event.Type.PUT, kv, create == main ? null : before(key, old)));
    } else {
      events.addUnlisted(kv.key());
    }
    return old;
  }

  /**
   * Deletes every live key of a range, in key order (D1, D2). The memory that this takes does not
   * grow with the number of keys: deletions are written to the store in several batches.
   *
   * @param previous receives each record before it is deleted
   * @return number of deleted keys
   */
  public long delete(KeyRange range, Consumer<KeyValue> previous) {
    if (range.isSingle()) {
      NewestRecord old = reads.newest(range.key());
      if (old == null) {
        return 0;
      }
      previous.accept(old.kv());
      remove(old);
      return 1;
    }
    long deleted = 0;
    KeyRange rest = range.isEmpty() ? null : range;
    while (rest != null) {
      List<NewestRecord> piece = new ArrayList<>();
      rest = nextPiece(rest, piece);
      for (NewestRecord old : piece) {
        previous.accept(old.kv());
        remove(old);
      }
      deleted += piece.size();
    }
    return deleted;
  }

  /**
   * Adds the first live records of a range; returns the rest of the range, or null if there are no
   * more.
   */
  private @Nullable KeyRange nextPiece(KeyRange range, List<NewestRecord> piece) {
    long bytes = 0;
    try (LatestIterator walk = reads.newest(range)) {
      while (walk.next()) {
        if (piece.size() == bounds.batchRecords() || bytes >= bounds.batchBytes()) {
          return new KeyRange(walk.key(), range.rangeEnd());
        }
        NewestRecord newest = walk.newest();
        piece.add(newest);
        bytes += newest.kv().value().length();
      }
    }
    return null;
  }

  /** Deletes the keys attached to a lease, in key order (L9), in bounded memory. */
  public void deleteAttached(long lease) {
    Bytes from = StoreKeys.attachment(lease, Bytes.EMPTY);
    List<Bytes> piece = new ArrayList<>();
    do {
      piece.clear();
      try (Cursor attached = rows.cursor(Space.LEASE, from, StoreKeys.afterAttachments(lease))) {
        while (piece.size() < bounds.batchRecords() && attached.next()) {
          piece.add(StoreKeys.attachedKey(attached.key()));
        }
      }
      for (Bytes key : piece) {
        delete(KeyRange.single(key), old -> {});
        from = StoreKeys.attachment(lease, key.successor());
      }
    } while (!piece.isEmpty());
  }

  private void remove(NewestRecord former) {
    writePartWhenFull();
    KeyValue old = former.kv();
    long main = revision + 1;
    int sub = events.count();
    Bytes key = old.key();
    digest.replaced(old);
    blocks.removed(key);
    rows.moveToHistory(former);
    rows.set(Space.KEY, StoreKeys.row(key, main, sub, true), Bytes.EMPTY);
    rows.erase(Space.LATEST, key);
    rows.set(Space.REV, StoreKeys.revision(main, sub), RowCodec.deletion(key));
    changes++;
    moveLease(key, old.lease(), 0);
    rows.changed(NewestRecord.absent(key, main));
    if (events.areKept()) {
      events.add(Event.delete(key, main, before(key, old)));
    } else {
      events.addUnlisted(key);
    }
  }

  /** The record at the revision before the request, also after earlier changes in it (W11). */
  private @Nullable KeyValue before(Bytes key, @Nullable KeyValue old) {
    return old == null || old.modRevision() <= revision
        ? old
        : reads.pointAt(key, revision, revision);
  }

  private void moveLease(Bytes key, long from, long to) {
    if (from == to) {
      return;
    }
    if (from != 0) {
      rows.erase(Space.LEASE, StoreKeys.attachment(from, key));
    }
    if (to != 0) {
      rows.set(Space.LEASE, StoreKeys.attachment(to, key), Bytes.EMPTY);
    }
  }

  /**
   * Completes a request: its changes become one main revision; without changes the revision stays
   * (R2, R3).
   */
  public RevisionChanges finish() {
    if (events.count() == 0) {
      return RevisionChanges.NONE;
    }
    revision++;
    revisionMoved = true;
    return events.take();
  }

  /**
   * Raises the compacted revision (C1). Lower revisions are refused from the next commit on and
   * removed by the {@link Compactor}.
   *
   * @return the reason for a refusal, or null
   */
  public @Nullable Refusal compact(long to) {
    if (to <= compacted) {
      return Refusal.COMPACTED;
    }
    if (to > revision) {
      return Refusal.FUTURE_REVISION;
    }
    compactedBefore = compacted;
    compacted = to;
    rows.setOther(Space.META, StoreKeys.META_COMPACTED, RowCodec.longs(to));
    return null;
  }

  /** Sets a row that is neither a key nor a revision: it joins the last batch of the entry. */
  public void putRow(Space space, Bytes key, Bytes value) {
    rows.setOther(space, key, value);
  }

  /**
   * Raises the schema to that of rows which the current entry writes for the first time, so that a
   * program that does not know them never opens this state.
   */
  public void raiseSchema(long to) {
    if (to > schema) {
      schema = to;
      rows.setSchema(to);
    }
  }

  /** Removes such a row. */
  public void removeRow(Space space, Bytes key) {
    rows.setOther(space, key, null);
  }

  /**
   * Checks that an entry is the next one to apply: each is applied once and none is skipped.
   *
   * @throws Invariant.Broken on a gap or a repeat
   */
  public void requireNext(long index, long term) {
    Invariant.require(index == appliedIndex + 1, "entry was applied twice or skipped");
    Invariant.require(term >= appliedTerm, "term of applied entries decreased");
    rows.undoPartialEntry();
  }

  /**
   * Records that an entry was applied; the index joins the batch of its changes.
   *
   * @throws Invariant.Broken on a gap or a repeat
   */
  public void applied(long index, long term) {
    requireNext(index, term);
    Invariant.require(events.count() == 0, "request was not finished");
    rows.endEntry();
    blocks.endEntry();
    appliedIndex = index;
    appliedTerm = term;
    digest.applied(index, term, revision);
    if (rows.isPartial()) {
      // No further entry may join the batches of this one.
      commit();
    }
  }

  /** Approximate memory of the changes that are not written yet, in bytes. */
  public long pendingBytes() {
    return rows.bytes();
  }

  private void writePartWhenFull() {
    if (rows.isFull()) {
      if (!rows.isPartial()) {
        blocks.addCompleteTo(rows);
      }
      rows.writePart(revision, appliedRow());
    }
  }

  private Bytes appliedRow() {
    return CountRows.applied(appliedIndex, appliedTerm, digest.value(), creationsSince);
  }

  private Published position() {
    ReadView now = new ReadView(revision, compacted, appliedIndex);
    KeyBlocks counted = blocks.publish();
    countHistory.published(revision, changes, counted, compacted);
    long bytes = blocks.bytes() + countHistory.bytes();
    return new Published(now, counted, countHistory.kept(), bytes, blocks.corrections());
  }

  /** Writes all changes since the last commit in one batch, then makes them visible to readers. */
  public void commit() {
    if (appliedIndex == view.get().appliedIndex()) {
      Invariant.require(!revisionMoved, "changes without an entry");
      return;
    }
    if (revisionMoved) {
      rows.putOwn(Space.LATEST, StoreKeys.LATEST_REVISION, RowCodec.longs(revision));
      revisionMoved = false;
    }
    blocks.addTo(rows);
    rows.writeComplete(revision, appliedRow());
    if (compacted != view.get().compactedRevision()) {
      // Before readers and the compactor see the revision: nothing is removed yet, and no reader
      // asks too early.
      hashes.begin(new PendingHash(store, compactedBefore, compacted));
    }
    view.set(position());
    blocks.split(store);
  }

  /** Releases the resources of the store, which its owner closes next; for any thread. */
  @Override
  public void close() {
    hashes.close();
  }
}
