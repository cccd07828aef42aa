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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The writer's side of the multi-version store: one thread. Changes gather in memory, where this
 * class already sees them, until {@link #commit} writes them in one batch together with the applied
 * index and shows them to readers.
 *
 * <p>One changing request is one main revision (R2): call {@link #put} and {@link #delete} for its
 * changes in order, then {@link #finish}. Requests are checked before: nothing here is undone.
 */
public final class MvccStore implements KvRead, AutoCloseable {
  /** R1: what a store is at before its first change. */
  static final long FIRST_REVISION = 1;

  private static final long NOTHING_COMPACTED = -1;

  private final OrderedStore store;
  private final RecordCache records;
  private final Map<Bytes, KeyValue> changed = new HashMap<>();
  private final ViewHolder view;
  private final MvccReader reader;
  private final Compactor compactor;
  private final CompactionHashes hashes = new CompactionHashes();
  private final PendingChanges pending;
  private final EffectDigest digest;

  /** What an applied entry answers must not depend on the memory of a member. */
  private final MemoryBudget.Share unlimited = MemoryBudget.UNLIMITED.share();

  private final List<Event> events = new ArrayList<>();
  private long revision;
  private long compacted;
  private long compactedBefore;
  private long appliedIndex;
  private long appliedTerm;
  private boolean revisionMoved;

  /**
   * Opens what the store holds; an empty store becomes a fresh one (R1).
   *
   * @param store outlives this object and is closed by its owner
   * @param cacheBytes bound of the memory for newest records
   * @throws StoreException if the store has another schema, or is damaged
   */
  public MvccStore(OrderedStore store, long cacheBytes) {
    this.store = store;
    this.pending = new PendingChanges(store);
    Bytes schema = store.get(Space.META, StoreKeys.META_SCHEMA);
    if (schema == null) {
      pending.put(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(StoreKeys.SCHEMA));
    } else {
      requireKnown(StoreKeys.getLong(schema, 0));
    }
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    this.appliedIndex = applied == null ? 0 : StoreKeys.getLong(applied, 0);
    this.appliedTerm = applied == null ? 0 : StoreKeys.getLong(applied, 8);
    this.digest = new EffectDigest(applied == null ? 0 : StoreKeys.getLong(applied, 16));
    this.revision = number(Space.LATEST, StoreKeys.LATEST_REVISION, FIRST_REVISION);
    this.compacted = number(Space.META, StoreKeys.META_COMPACTED, NOTHING_COMPACTED);
    this.compactedBefore = compacted;
    requireNothingAbove(revision);
    this.records = new RecordCache(cacheBytes);
    this.view = new ViewHolder(new ReadView(revision, compacted, appliedIndex));
    this.reader = new MvccReader(store, view, records, hashes);
    long finished = number(Space.META, StoreKeys.META_COMPACTION_FINISHED, NOTHING_COMPACTED);
    this.compactor = new Compactor(store, view, finished);
  }

  private static void requireKnown(long schema) {
    if (schema != StoreKeys.SCHEMA && schema != StoreKeys.SCHEMA_WITH_AUTH) {
      throw new StoreException("unknown schema " + schema + " of the state");
    }
  }

  private long number(Space space, Bytes key, long whenAbsent) {
    Bytes value = store.get(space, key);
    return value == null ? whenAbsent : StoreKeys.getLong(value, 0);
  }

  private void requireNothingAbove(long current) {
    try (Cursor last = store.cursor(Space.REV, Bytes.EMPTY, null, true)) {
      if (last.next()) {
        Invariant.require(
            StoreKeys.revisionMain(last.key()) <= current, "a stored change is above the revision");
      }
    }
  }

  /** For any thread. */
  public MvccReader reader() {
    return reader;
  }

  /** Removes what compaction left behind; for any one thread beside the writer. */
  public Compactor compactor() {
    return compactor;
  }

  /** Index of the last entry noted by {@link #applied}. */
  public long appliedIndex() {
    return appliedIndex;
  }

  /** Term of the last entry noted by {@link #applied}. */
  public long appliedTerm() {
    return appliedTerm;
  }

  /** What all entries up to {@link #appliedIndex} did, as one number; equal on all members. */
  public long digest() {
    return digest.value();
  }

  /** Current main revision; changes of a request that is not finished do not count. */
  @Override
  public long revision() {
    return revision;
  }

  /** Revision that an answer names now: the new one from the first change of a request on (R6). */
  public long headerRevision() {
    return events.isEmpty() ? revision : revision + 1;
  }

  @Override
  public long compactedRevision() {
    return compacted;
  }

  // ---- reads of the writer: they see everything written so far ----

  @Override
  public @Nullable KeyValue get(Bytes key) {
    KeyValue known = changed.get(key);
    if (known == null) {
      known = records.find(key);
    }
    if (known == null) {
      known = load(key);
    }
    return RecordCache.isAbsent(known) ? null : known;
  }

  /** Nothing is pending for the key: what is committed is its newest record. */
  private KeyValue load(Bytes key) {
    long committed = view.get().revision();
    KeyValue found = reader.load(key, committed);
    records.loaded(found, committed);
    return found;
  }

  @Override
  public void scan(KeyRange range, Predicate<KeyValue> more) {
    if (range.isSingle()) {
      KeyValue kv = get(range.key());
      if (kv == null || !more.test(kv)) {
        return;
      }
    } else if (!range.isEmpty()) {
      try (RecordWalk walk = newest(range)) {
        while (walk.next()) {
          if (!more.test(walk.record())) {
            return;
          }
        }
      }
    }
  }

  @Override
  public RangeResult range(RangeQuery query) {
    KeyRange range = query.range();
    if (range.isEmpty()) {
      return RangeRead.nothing(headerRevision());
    }
    long at = query.revision() <= 0 ? Long.MAX_VALUE : query.revision();
    if (range.isSingle()) {
      return RangeRead.point(pointAt(range.key(), at), query, headerRevision());
    }
    try (RecordWalk walk = at > revision ? newest(range) : history(range, at)) {
      return new RangeRead(walk, query, at, headerRevision(), unlimited).range(null);
    }
  }

  private @Nullable KeyValue pointAt(Bytes key, long at) {
    KeyValue newest = get(key);
    if (newest == null ? at > revision : newest.modRevision() <= at) {
      return newest;
    }
    try (Cursor rows =
        pending.cursor(Space.KEY, StoreKeys.newestAt(key, at), StoreKeys.behind(key))) {
      return rows.next() && !StoreKeys.isTombstone(rows.key())
          ? RowCodec.keyValue(rows.key(), rows.value())
          : null;
    }
  }

  private RecordWalk newest(KeyRange range) {
    // From the range's own start on: the row of the revision in front does not matter here.
    return new LatestWalk(
        pending.cursor(Space.LATEST, range.key(), LatestWalk.upper(range)), range.key());
  }

  private RecordWalk history(KeyRange range, long at) {
    return new VersionWalk(
        pending.cursor(Space.KEY, StoreKeys.firstOf(range.key()), StoreKeys.upper(range)), at);
  }

  /** Keys attached to a lease, in key order (L9). */
  public List<Bytes> attachedKeys(long lease) {
    List<Bytes> keys = new ArrayList<>();
    Bytes from = StoreKeys.attachment(lease, Bytes.EMPTY);
    try (Cursor rows = pending.cursor(Space.LEASE, from, StoreKeys.behindAttachments(lease))) {
      while (rows.next()) {
        keys.add(StoreKeys.attachedKey(rows.key()));
      }
    }
    return keys;
  }

  // ---- changes ----

  /**
   * Writes a new version of a key (R4, P4).
   *
   * @param lease exists, or 0
   * @return the record before, or null
   */
  public @Nullable KeyValue put(Bytes key, Bytes value, long lease) {
    KeyValue old = get(key);
    digest.replaced(old);
    long main = revision + 1;
    int sub = events.size();
    long create = old == null ? main : old.createRevision();
    long version = old == null ? 1 : old.version() + 1;
    Bytes row = StoreKeys.row(key, main, sub, false);
    Bytes record = RowCodec.record(create, version, lease, value);
    set(Space.KEY, row, record);
    set(Space.REV, StoreKeys.revision(main, sub), RowCodec.change(false, key));
    moveLease(key, old == null ? 0 : old.lease(), lease);
    // Decoded from our own rows, so that no request is kept alive by the cache.
    KeyValue kv = RowCodec.keyValue(row, record);
    set(Space.LATEST, kv.key(), RowCodec.latest(kv));
    changed.put(kv.key(), kv);
    events.add(new Event(Event.Type.PUT, kv, create == main ? null : before(key, old)));
    return old;
  }

  /**
   * Deletes every live key of a range, in key order (D1, D2).
   *
   * @return the records before, in key order
   */
  public List<KeyValue> delete(KeyRange range) {
    List<KeyValue> doomed = new ArrayList<>(range.isSingle() ? 1 : 16);
    scan(range, doomed::add);
    for (int i = 0; i < doomed.size(); i++) {
      remove(doomed.get(i));
    }
    return doomed;
  }

  private void remove(KeyValue old) {
    long main = revision + 1;
    int sub = events.size();
    Bytes key = old.key();
    digest.replaced(old);
    set(Space.KEY, StoreKeys.row(key, main, sub, true), Bytes.EMPTY);
    erase(Space.LATEST, key);
    set(Space.REV, StoreKeys.revision(main, sub), RowCodec.change(true, key));
    moveLease(key, old.lease(), 0);
    changed.put(key, RecordCache.absent(key, main));
    events.add(Event.delete(key, main, before(key, old)));
  }

  /** The record at the revision before the request, also after earlier changes in it (W11). */
  private @Nullable KeyValue before(Bytes key, @Nullable KeyValue old) {
    if (old == null || old.modRevision() <= revision) {
      return old;
    }
    for (int i = 0; i < events.size(); i++) {
      Event event = events.get(i);
      if (event.kv().key().equals(key)) {
        return event.prev();
      }
    }
    throw new Invariant.Broken("a change of this request has no event");
  }

  private void moveLease(Bytes key, long from, long to) {
    if (from == to) {
      return;
    }
    if (from != 0) {
      erase(Space.LEASE, StoreKeys.attachment(from, key));
    }
    if (to != 0) {
      set(Space.LEASE, StoreKeys.attachment(to, key), Bytes.EMPTY);
    }
  }

  /**
   * Ends a request: its changes become one main revision, or none when there were none (R2, R3).
   *
   * @return its events in sub-revision order; immutable
   */
  public List<Event> finish() {
    if (events.isEmpty()) {
      return List.of();
    }
    List<Event> done = List.copyOf(events);
    events.clear();
    revision++;
    revisionMoved = true;
    return done;
  }

  /**
   * Moves the compacted revision (C1); what lies below is refused from the next commit on and
   * removed by the {@link Compactor}.
   *
   * @return why not, or null
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
    set(Space.META, StoreKeys.META_COMPACTED, RowCodec.longs(to));
    return null;
  }

  /** Sets a row that is neither a key nor a revision: it joins the batch of the current entry. */
  public void putRow(Space space, Bytes key, Bytes value) {
    requireOther(space);
    set(space, key, value);
  }

  /** Removes such a row. */
  public void removeRow(Space space, Bytes key) {
    requireOther(space);
    erase(space, key);
  }

  private void set(Space space, Bytes key, Bytes value) {
    digest.changed(space, key, value);
    pending.put(space, key, value);
  }

  private void erase(Space space, Bytes key) {
    digest.changed(space, key, null);
    pending.remove(space, key);
  }

  private static void requireOther(Space space) {
    Invariant.require(
        space == Space.META || space == Space.LEASE,
        "versions are written by put and delete alone");
  }

  /**
   * Checks that an entry is the one to apply next: each is applied once and none is left out.
   *
   * @throws Invariant.Broken on a gap or a repeat
   */
  public void requireNext(long index, long term) {
    Invariant.require(index == appliedIndex + 1, "an entry was applied twice or left out");
    Invariant.require(term >= appliedTerm, "the term of applied entries went back");
  }

  /**
   * Notes that an entry was applied; the index joins the batch that holds its changes.
   *
   * @throws Invariant.Broken on a gap or a repeat
   */
  public void applied(long index, long term) {
    requireNext(index, term);
    Invariant.require(events.isEmpty(), "a request was not finished");
    appliedIndex = index;
    appliedTerm = term;
    digest.applied(index, term, revision);
  }

  /** Writes all changes since the last commit in one batch, then shows them to readers. */
  public void commit() {
    if (appliedIndex == view.get().appliedIndex()) {
      Invariant.require(!revisionMoved, "changes without an entry");
      return;
    }
    pending.put(
        Space.META,
        StoreKeys.META_APPLIED,
        RowCodec.longs(appliedIndex, appliedTerm, digest.value()));
    if (revisionMoved) {
      pending.put(Space.LATEST, StoreKeys.LATEST_REVISION, RowCodec.longs(revision));
      revisionMoved = false;
    }
    pending.write();
    for (KeyValue kv : changed.values()) {
      records.committed(kv, revision);
    }
    changed.clear();
    if (compacted != view.get().compactedRevision()) {
      // Before readers and the compactor know: nothing is removed yet, and nobody asks too early.
      hashes.begin(new PendingHash(store, compactedBefore, compacted));
    }
    view.set(new ReadView(revision, compacted, appliedIndex));
  }

  /** Lets go of what it holds of the store, which its owner closes next; for any thread. */
  @Override
  public void close() {
    hashes.close();
  }
}
