package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Lease;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads of the committed state, for any number of threads concurrent with the writer; none waits
 * for it.
 *
 * <p>Why a result is never torn: a read takes the {@link ReadView} first and ignores everything
 * above its revision; then it opens its cursors, which are frozen; then it checks the compacted
 * revision again. The compacted revision is published before anything is removed, so a revision
 * that is still readable at that point is complete in the cursors.
 */
public final class MvccReader {
  private final OrderedStore store;
  private final ReadViewPublisher view;
  private final PointReads points;
  private final CountCache counts = new CountCache();
  private final CompactionHashes hashes;
  private final CountChanges changes;

  MvccReader(
      OrderedStore store,
      ReadViewPublisher view,
      RecordCache records,
      CompactionHashes hashes,
      long creationsSince) {
    this.changes = new CountChanges(store, this::changesAfter, creationsSince);
    this.store = store;
    this.view = view;
    this.points = new PointReads(store, view, records);
    this.hashes = hashes;
  }

  /** Current position of the committed state. */
  public ReadView view() {
    return view.get();
  }

  /** Executes a Range: {@link Result.Range} or {@link Result.Refused} (section 2.3). */
  public Result range(RangeQuery query) {
    try (MemoryBudget.Share share = MemoryBudget.UNLIMITED.share()) {
      return range(query, share);
    }
  }

  /**
   * {@link #range(RangeQuery)}, refused if the result needs more memory than is available.
   *
   * @param share counts the result; the caller releases it after use
   */
  public Result range(RangeQuery query, MemoryBudget.Share share) {
    try {
      return currentOrRefused(query, share);
    } catch (MemoryBudget.Exceeded exceeded) {
      return new Result.Refused(exceeded.reason());
    }
  }

  /**
   * Executes a Range of one key if its newest record is in memory. Reads no file.
   *
   * @return null if only {@link #range} can tell: the newest record is not in memory or is newer
   *     than the revision, the range has more keys, or the Range is refused
   */
  public @Nullable RangeResult rangeInMemory(RangeQuery query) {
    ReadView seen = view.get();
    long at = query.revision() <= 0 ? seen.revision() : query.revision();
    if (!query.range().isSingle() || refusal(seen, at) != null) {
      return null;
    }
    NewestRecord known = points.inMemory(query.range().key(), at);
    return known == null ? null : RangeRead.point(known.live(), query, seen.revision());
  }

  private Result currentOrRefused(RangeQuery query, MemoryBudget.Share share) {
    while (true) {
      Published before = view.published();
      long at = query.revision() <= 0 ? before.view().revision() : query.revision();
      Refusal refusal = refusal(before.view(), at);
      if (refusal != null) {
        return new Result.Refused(refusal);
      }
      RangeResult result = rangeAt(query, at, before, counts, share);
      if (result != null) {
        return new Result.Range(result);
      }
      // A compaction removed the revision: a read of the current state retries with the newer
      // state, other reads are refused.
      if (query.revision() > 0) {
        return new Result.Refused(Refusal.COMPACTED);
      }
    }
  }

  /** The live record of a key now, or null. */
  public @Nullable KeyValue get(Bytes key) {
    RangeQuery query = RangeQuery.of(KeyRange.single(key), 0);
    return range(query) instanceof Result.Range found && !found.range().kvs().isEmpty()
        ? found.range().kvs().get(0)
        : null;
  }

  private static @Nullable Refusal refusal(ReadView view, long at) {
    if (at > view.revision()) {
      return Refusal.FUTURE_REVISION;
    }
    return at < view.compactedRevision() ? Refusal.COMPACTED : null;
  }

  /**
   * The result, or null if {@code at} was compacted before the cursor was open.
   *
   * @param seen published before; its revision is that of the header
   * @param remembered cache for counts, or null
   */
  @Nullable RangeResult rangeAt(
      RangeQuery query,
      long at,
      Published seen,
      @Nullable CountCache remembered,
      MemoryBudget.Share share) {
    KeyRange range = query.range();
    long headerRevision = seen.view().revision();
    if (range.isEmpty()) {
      return RangeRead.nothing(headerRevision);
    }
    if (range.isSingle()) {
      KeyValue kv = points.at(range.key(), at).live();
      return at < view.get().compactedRevision()
          ? null
          : RangeRead.point(kv, query, headerRevision);
    }
    try (RecordWalk walk = walk(range, at)) {
      return at < view.get().compactedRevision()
          ? null
          : new RangeRead(walk, query, at, headerRevision, known(seen, at), share)
              .range(remembered);
    }
  }

  private RangeCount.Known known(Published seen, long at) {
    CountHistory.Kept nearest = seen.nearest(at);
    long distance = Math.abs(nearest.revision() - at);
    return new RangeCount.Known(nearest.blocks(), nearest.revision(), at, distance, changes);
  }

  private @Nullable Cursor changesAfter(long revision, @Nullable Bytes toExclusive) {
    Cursor rows = store.cursor(Space.REV, StoreKeys.revision(revision + 1, 0), toExclusive, false);
    if (revision >= view.get().compactedRevision()) {
      return rows;
    }
    rows.close();
    return null;
  }

  /** The newest record of a key in {@link Space#LATEST}, or null. */
  @Nullable NewestRecord latest(Bytes key) {
    return points.latest(key);
  }

  /**
   * Opens a walk over a range at a published revision. Newest records are used while they belong to
   * {@code at}; if the writer published a newer revision in between, history is read.
   */
  RecordWalk walk(KeyRange range, long at) {
    if (at == view.get().revision()) {
      LatestIterator latest =
          new LatestIterator(
              store.cursor(Space.LATEST, Bytes.EMPTY, LatestIterator.upper(range), false),
              range.key());
      boolean wanted = false;
      try {
        wanted = latest.revision() == at;
        if (wanted) {
          return latest;
        }
      } finally {
        if (!wanted) {
          latest.close();
        }
      }
    }
    Bytes from =
        range.isSingle() ? StoreKeys.newestAt(range.key(), at) : StoreKeys.firstOf(range.key());
    return new VersionIterator(VersionCursor.open(store, from, StoreKeys.upper(range)), at);
  }

  /**
   * All reads of the result see the current state; for transactions that only read. The caller
   * checks {@link SnapshotRead#isLost} at the end.
   *
   * @param share counts all results together; the caller releases it after use
   */
  public SnapshotRead pin(MemoryBudget.Share share) {
    return new SnapshotRead(this, view, share);
  }

  /**
   * Reads one chunk of a range at a fixed revision (GS2-GS4).
   *
   * @param range starts where the chunk starts
   * @param revision 1 or more
   * @param limit maximum number of records, 1 or more
   * @param maxBytes stop after the record with which keys and values reach this size; the first
   *     record is always returned
   * @param keysOnly omit values and leases (G6)
   */
  public Page page(KeyRange range, long revision, int limit, long maxBytes, boolean keysOnly) {
    return page(range, revision, limit, maxBytes, keysOnly, RangeQuery.SortTarget.KEY);
  }

  /**
   * {@link #page(KeyRange, long, int, long, boolean)}, each chunk sorted on its own if the target
   * is not the key; the next chunk then starts after the key that sorted last (GS7).
   */
  public Page page(
      KeyRange range,
      long revision,
      int limit,
      long maxBytes,
      boolean keysOnly,
      RangeQuery.SortTarget target) {
    Refusal refusal = refusal(view.get(), revision);
    if (refusal != null) {
      return new Page.Refused(refusal);
    }
    if (range.isEmpty()) {
      return new Page.Records(List.of(), null, 0);
    }
    try (RecordWalk walk = walk(range, revision)) {
      if (revision < view.get().compactedRevision()) {
        return new Page.Refused(Refusal.COMPACTED);
      }
      PageRead read = new PageRead(walk, limit, maxBytes, keysOnly);
      return target == RangeQuery.SortTarget.KEY ? read.inKeyOrder() : read.sortedBy(target);
    }
  }

  /**
   * Counts the keys of a range; 0 or less is the current revision. Refusals as for {@link #range}.
   */
  public Result count(KeyRange range, long revision) {
    return range(
        new RangeQuery(
            range,
            0,
            revision,
            RangeQuery.SortOrder.NONE,
            RangeQuery.SortTarget.KEY,
            false,
            true,
            0,
            0,
            0,
            0));
  }

  /** Number of live keys. */
  public long keys() {
    return view.published().blocks().keys();
  }

  /** The blocks in which the live keys are counted. */
  public CountedBlocks countedBlocks() {
    Published now = view.published();
    return new CountedBlocks(now.blocks().blocks(), now.blockBytes(), now.corrections());
  }

  /**
   * The blocks in which the live keys are counted.
   *
   * @param blocks 1 or more
   * @param bytes memory, with that of earlier counts
   * @param corrections counts that did not match the keys of their block and were replaced, since
   *     the start; a fault of the program if there are any
   */
  public record CountedBlocks(long blocks, long bytes, long corrections) {}

  /** See {@link CountedBlocks#corrections}. */
  public long countCorrections() {
    return view.published().corrections();
  }

  /**
   * Reads events for a watch that lags (W8).
   *
   * @param range range of the events; others are skipped
   * @param fromRevision first revision that is needed
   * @param maxRevisions maximum number of distinct revisions with events of the range, 1 or more
   * @param maxBytes stop after the revision with which the events reach this size; one is always
   *     returned
   * @param withPrev true if previous records are wanted (W11)
   */
  public HistoryResult history(
      KeyRange range, long fromRevision, int maxRevisions, long maxBytes, boolean withPrev) {
    HistoryLimits limits = new HistoryLimits(maxRevisions, maxBytes, Long.MAX_VALUE);
    return history(range, fromRevision, 0, limits, withPrev);
  }

  /**
   * Limits of one read of history.
   *
   * @param revisions maximum number of distinct revisions with events of the range, 1 or more
   * @param bytes stop after the revision with which the events reach this size; one is always
   *     returned
   * @param pieceBytes if the events of a single revision reach this size, the next read returns the
   *     rest of the revision
   */
  public record HistoryLimits(int revisions, long bytes, long pieceBytes) {}

  /**
   * {@link #history(KeyRange, long, int, long, boolean)}, with large revisions in pieces.
   *
   * @param fromSub 0, or the sub revision at which the last read stopped inside {@code
   *     fromRevision}
   */
  public HistoryResult history(
      KeyRange range, long fromRevision, int fromSub, HistoryLimits limits, boolean withPrev) {
    ReadView before = view.get();
    if (fromRevision < before.compactedRevision()) {
      return new HistoryResult.Compacted(before.compactedRevision());
    }
    if (fromRevision > before.revision()) {
      return new HistoryResult.Events(List.of(), fromRevision, 0, before.revision());
    }
    if (range.isSingle()) {
      return keyHistory(range.key(), fromRevision, limits, withPrev, before);
    }
    Bytes from = StoreKeys.revision(Math.max(fromRevision, 0), fromSub);
    Bytes end = StoreKeys.revision(before.revision() + 1, 0);
    try (HistoryCursors cursors = HistoryCursors.open(store, from, end)) {
      long compacted = view.get().compactedRevision();
      if (fromRevision < compacted) {
        return new HistoryResult.Compacted(compacted);
      }
      ReadView seen = new ReadView(before.revision(), compacted, before.appliedIndex());
      return new HistoryRead(cursors.changes(), cursors.rows(), range, withPrev, seen)
          .read(limits.revisions(), limits.bytes(), limits.pieceBytes());
    }
  }

  private HistoryResult keyHistory(
      Bytes key, long fromRevision, HistoryLimits limits, boolean withPrev, ReadView before) {
    KeyHistoryRead read = new KeyHistoryRead(store, key, withPrev);
    HistoryResult.Events events;
    try (KeyHistoryRead.Versions versions = read.versions(fromRevision)) {
      long compacted = view.get().compactedRevision();
      if (fromRevision < compacted) {
        return new HistoryResult.Compacted(compacted);
      }
      ReadView seen = new ReadView(before.revision(), compacted, before.appliedIndex());
      events = read.read(versions, seen, limits.revisions(), limits.bytes());
    }
    // The record before the first version is read with a separate cursor.
    long compacted = view.get().compactedRevision();
    return fromRevision < compacted ? new HistoryResult.Compacted(compacted) : events;
  }

  /**
   * The hash of the history that exists at a revision (MT6, MT7). A revision with a compaction hash
   * keeps that hash, also when it is compacted further; any other is hashed now, which reads
   * everything up to it and is slow.
   *
   * @param revision 0 is the current one, which is always hashed now; no record is below a negative
   *     one, so its hash covers nothing
   */
  public HashResult hash(long revision) {
    while (true) {
      ReadView before = view.get();
      if (revision > 0 && revision <= before.revision()) {
        HashResult.Hash known = hashes.find(revision);
        if (known != null) {
          return new HashResult.Hash(
              known.hash(), known.compactRevision(), revision, before.revision());
        }
      }
      HashResult result = hashOnce(revision, before);
      if (result != null) {
        return result;
      }
      // A compaction was applied in between, perhaps of this very revision.
    }
  }

  /**
   * {@link #hash} without the hashes of compactions: equal on all members with the same content,
   * whatever hashes each of them has.
   *
   * @param revision as for {@link #hash}
   */
  public HashResult hashNow(long revision) {
    HashResult result = null;
    while (result == null) {
      result = hashOnce(revision, view.get());
    }
    return result;
  }

  /** The result, or null if a compaction was applied between view and cursors. */
  private @Nullable HashResult hashOnce(long revision, ReadView before) {
    long compacted = before.compactedRevision();
    if (revision < 0) {
      return new HashResult.Hash(KvHash.ofNothing(), compacted, revision, before.revision());
    }
    long at = revision == 0 ? before.revision() : revision;
    Refusal refusal = refusal(before, at);
    if (refusal != null) {
      return new HashResult.Refused(refusal);
    }
    Bytes end = StoreKeys.revision(at + 1, 0);
    try (HistoryCursors cursors = HistoryCursors.openLong(store, Bytes.EMPTY, end)) {
      if (view.get().compactedRevision() != compacted) {
        return null;
      }
      int crc = KvHash.compute(cursors, compacted, at, hashes.windows());
      return new HashResult.Hash(crc, compacted, at, before.revision());
    }
  }

  /**
   * Computes the hash of the newest compaction that has none yet, over the content before it (MT6);
   * slow. For one thread concurrent with the writer, after each compaction.
   *
   * @return null if there is none to compute
   */
  public HashResult.@Nullable Hash hashCompaction() {
    return hashes.makeNext();
  }

  /**
   * The computed hashes of compactions, newest first, at most ten; their storeRevision is the
   * compacted one.
   */
  public List<HashResult.Hash> compactionHashes() {
    return hashes.newestFirst();
  }

  /** Keys attached to a lease, in key order; empty for an unknown lease (L7, L14). */
  public List<Bytes> attachedKeys(long lease) {
    List<Bytes> keys = new ArrayList<>();
    allAttached(lease, keys::add);
    return keys;
  }

  /** True if {@code test} holds for every key attached to a lease, also if there is none. */
  public boolean allAttached(long lease, Predicate<Bytes> test) {
    Bytes from = StoreKeys.attachment(lease, Bytes.EMPTY);
    try (Cursor rows = store.cursor(Space.LEASE, from, StoreKeys.afterAttachments(lease), false)) {
      while (rows.next()) {
        if (!test.test(StoreKeys.attachedKey(rows.key()))) {
          return false;
        }
      }
    }
    return true;
  }

  /** Every granted lease, by id as an unsigned number. */
  public List<Lease> leases() {
    return MetaRows.leases(store, 0, Integer.MAX_VALUE);
  }
}
