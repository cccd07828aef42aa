package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads of the writer: they include everything that was written so far, also what is not in the
 * store yet. One thread.
 */
final class WriterReads {
  private final EntryRows rows;
  private final RecordCache records;
  private final ReadViewPublisher view;
  private final MvccReader reader;
  private final LiveBlocks blocks;
  private final CountChanges changes;

  WriterReads(
      EntryRows rows,
      RecordCache records,
      ReadViewPublisher view,
      MvccReader reader,
      LiveBlocks blocks,
      CountChanges changes) {
    this.blocks = blocks;
    this.changes = changes;
    this.rows = rows;
    this.records = records;
    this.view = view;
    this.reader = reader;
  }

  /** The newest record of a key; null if it does not exist. */
  @Nullable KeyValue get(Bytes key) {
    NewestRecord newest = newest(key);
    return newest == null ? null : newest.kv();
  }

  /** The newest record of a key and its place; null if it does not exist. */
  @Nullable NewestRecord newest(Bytes key) {
    NewestRecord known = rows.find(key);
    if (known == null) {
      known = records.find(key);
    }
    if (known == null) {
      known = load(key);
    }
    return known.isAbsent() ? null : known;
  }

  /**
   * No change is pending for the key: the store contains its newest record. Only the writer moves
   * versions, so it finds each live key in LATEST.
   */
  private NewestRecord load(Bytes key) {
    long stored = rows.storedRevision(view.get().revision());
    NewestRecord newest = reader.latest(key);
    NewestRecord found =
        newest == null ? NewestRecord.absent(Bytes.wrap(key.toArray()), stored) : newest;
    records.loaded(found, stored);
    return found;
  }

  /** As {@link KvRead#scan}. */
  void scan(KeyRange range, boolean whole, Predicate<KeyValue> more) {
    if (range.isSingle()) {
      KeyValue kv = get(range.key());
      if (kv == null || !more.test(kv)) {
        return;
      }
    } else if (!range.isEmpty()) {
      try (RecordWalk walk = newest(range)) {
        while (walk.next()) {
          if (!more.test(whole ? walk.record() : walk.keyOnly())) {
            return;
          }
        }
      }
    }
  }

  /**
   * Executes a read whose revision is already checked (X10): 0 or less is the newest state.
   *
   * @param share counts the records
   * @param revision current main revision
   * @param headerRevision revision for the header of the response
   * @throws MemoryBudget.Exceeded if they do not fit
   */
  RangeResult range(
      RangeQuery query, MemoryBudget.Share share, long revision, long headerRevision) {
    KeyRange range = query.range();
    if (range.isEmpty()) {
      return RangeRead.nothing(headerRevision);
    }
    long at = query.revision() <= 0 ? Long.MAX_VALUE : query.revision();
    if (range.isSingle()) {
      KeyValue found = pointAt(range.key(), at, revision);
      if (found != null) {
        share.add(found);
      }
      return RangeRead.point(found, query, headerRevision);
    }
    try (RecordWalk walk = at > revision ? newest(range) : history(range, at)) {
      RangeCount.Known known =
          at > revision
              ? new RangeCount.Known(blocks.current(), at, at, 0, changes)
              : new RangeCount.Known(
                  blocks.current(), Long.MAX_VALUE, at, headerRevision - at, changes);
      return new RangeRead(walk, query, at, headerRevision, known, share).range(null);
    }
  }

  /**
   * The record of a key at a revision; null if it did not exist.
   *
   * @param revision current main revision
   */
  @Nullable KeyValue pointAt(Bytes key, long at, long revision) {
    KeyValue newest = get(key);
    if (newest == null ? at > revision : newest.modRevision() <= at) {
      return newest;
    }
    // Versions that are not the newest are in KEY.
    try (Cursor found = rows.cursor(Space.KEY, StoreKeys.newestAt(key, at), StoreKeys.after(key))) {
      return found.next() && !StoreKeys.isTombstone(found.key())
          ? RowCodec.keyValue(found.key(), found.value())
          : null;
    }
  }

  /** The newest records of a range, in key order. */
  LatestIterator newest(KeyRange range) {
    // From the start of the range on: the row with the revision before it does not matter here.
    return new LatestIterator(
        rows.cursor(Space.LATEST, range.key(), LatestIterator.upper(range)), range.key());
  }

  private RecordWalk history(KeyRange range, long at) {
    return new VersionIterator(
        VersionCursor.open(rows, StoreKeys.firstOf(range.key()), StoreKeys.upper(range)), at);
  }

  /** True if {@code test} holds for every key attached to a lease, also if there is none. */
  boolean allAttached(long lease, Predicate<Bytes> test) {
    Bytes from = StoreKeys.attachment(lease, Bytes.EMPTY);
    try (Cursor attached = rows.cursor(Space.LEASE, from, StoreKeys.afterAttachments(lease))) {
      while (attached.next()) {
        if (!test.test(StoreKeys.attachedKey(attached.key()))) {
          return false;
        }
      }
    }
    return true;
  }
}
