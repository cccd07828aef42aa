package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The rules of a range read (G3-G10) over one walk. The caller checks revisions and closes the
 * walk.
 *
 * @source section 2.3
 */
final class RangeRead {
  /** Longest result that is sorted by records without values, before their values are read. */
  private static final int MAX_SORTED = 1000;

  private final RecordWalk walk;
  private final RangeQuery query;
  private final long atRevision;
  private final long headerRevision;
  private final MemoryBudget.Share share;
  private final WalkSteps steps;
  private final RangeCount live;

  /**
   * Prepares a read.
   *
   * @param walk over the query's range, before the first key
   * @param atRevision revision whose live keys it returns
   * @param headerRevision revision of the store in the header of the result
   * @param known counts of blocks near that revision
   * @param share counts the result; a read that exceeds the memory throws {@link
   *     MemoryBudget.Exceeded}
   */
  RangeRead(
      RecordWalk walk,
      RangeQuery query,
      long atRevision,
      long headerRevision,
      RangeCount.Known known,
      MemoryBudget.Share share) {
    this.walk = walk;
    this.query = query;
    this.atRevision = atRevision;
    this.headerRevision = headerRevision;
    this.share = share;
    this.steps = new WalkSteps(share);
    this.live = new RangeCount(known, query.range(), walk, steps);
  }

  /** The result for a range that can contain no key. */
  static RangeResult nothing(long headerRevision) {
    return new RangeResult(headerRevision, List.of(), false, 0);
  }

  /**
   * The result for one key.
   *
   * @param kv the key's record at the requested revision, or null
   */
  static RangeResult point(@Nullable KeyValue kv, RangeQuery query, long headerRevision) {
    if (kv == null) {
      return nothing(headerRevision);
    }
    if (query.countOnly() || (query.hasRevisionFilter() && !passes(query, kv))) {
      return new RangeResult(headerRevision, List.of(), false, 1);
    }
    KeyValue shown = query.keysOnly() ? bare(kv, query.target()) : kv;
    return new RangeResult(headerRevision, List.of(shown), false, 1);
  }

  /** G6: keys-only records have no lease, unless values are needed for sorting. */
  private static KeyValue bare(KeyValue kv, SortTarget target) {
    return new KeyValue(
        kv.key(),
        kv.createRevision(),
        kv.modRevision(),
        kv.version(),
        Bytes.EMPTY,
        target == SortTarget.VALUE ? kv.lease() : 0);
  }

  /**
   * The result for a range.
   *
   * @param counts cache for counts of this revision, or null if it may still change
   */
  RangeResult range(@Nullable CountCache counts) {
    long known = counts == null ? -1 : counts.find(start(), end(), atRevision);
    if (query.countOnly()) {
      return new RangeResult(headerRevision, List.of(), false, known >= 0 ? known : count(counts));
    }
    if (cutsLastKeys()) {
      return lastKeys(counts, known);
    }
    return takesAllBeforeCut() ? sortedAll() : firstKeys(counts, known);
  }

  private boolean next() {
    steps.step();
    return walk.next();
  }

  private Bytes start() {
    return query.range().key();
  }

  private Bytes end() {
    return query.range().rangeEnd();
  }

  private boolean limited() {
    return query.limit() > 0;
  }

  private boolean keyOrder() {
    return query.target() == SortTarget.KEY && query.order() != SortOrder.DESCEND;
  }

  /** G8: an explicit order other than ascending keys, or a filter, needs all matches. */
  private boolean takesAllBeforeCut() {
    return query.hasRevisionFilter() || (query.order() != SortOrder.NONE && !keyOrder());
  }

  private boolean cutsLastKeys() {
    return limited()
        && query.target() == SortTarget.KEY
        && query.order() == SortOrder.DESCEND
        && !query.hasRevisionFilter();
  }

  private long count(@Nullable CountCache counts) {
    long count = live.from(start());
    noteWhole(counts, start(), count);
    return count;
  }

  /** The limit is applied during the walk; the rest is only counted. */
  private RangeResult firstKeys(@Nullable CountCache counts, long known) {
    // One record more than requested proves "more"; with a sort target it also takes part in the
    // sort (G8).
    long fetch = limited() && query.limit() < Long.MAX_VALUE ? query.limit() + 1 : Long.MAX_VALUE;
    List<KeyValue> kvs = new ArrayList<>((int) Math.min(fetch, 16));
    while (kvs.size() < fetch && next()) {
      take(kvs, decode());
    }
    long count = known >= 0 ? known : kvs.size();
    if (kvs.size() == fetch) {
      count += known < 0 ? live.afterCurrent() : 0;
      noteWhole(counts, kvs.get(0).key(), count);
      noteRest(counts, kvs, count);
    }
    return result(kvs, count);
  }

  /**
   * With a limit and an order that needs no values, only the returned records are read with values.
   */
  private boolean sortsWithoutValues() {
    return limited() && query.limit() <= MAX_SORTED && query.target() != SortTarget.VALUE;
  }

  private RangeResult sortedFirst() {
    BestRecords best = new BestRecords((int) query.limit() + 1, comparator());
    long count = 0;
    while (next()) {
      count++;
      KeyValue kv = walk.keyOnly();
      if (passes(query, kv)) {
        best.add(kv, walk);
      }
    }
    List<KeyValue> kvs = new ArrayList<>();
    List<Bytes> places = best.places();
    boolean more = places.size() > query.limit();
    for (int i = 0; i < places.size() - (more ? 1 : 0); i++) {
      walk.back(places.get(i));
      take(kvs, decode());
    }
    return new RangeResult(headerRevision, Collections.unmodifiableList(kvs), more, count);
  }

  private RangeResult sortedAll() {
    if (sortsWithoutValues()) {
      return sortedFirst();
    }
    List<KeyValue> kvs = new ArrayList<>();
    long count = 0;
    while (next()) {
      count++;
      KeyValue kv = decode();
      if (passes(query, kv)) {
        take(kvs, kv);
      }
    }
    return result(kvs, count);
  }

  /**
   * Descending keys with a limit: walks over the last blocks of the range alone, and only the
   * returned rows are decoded.
   */
  private RangeResult lastKeys(@Nullable CountCache counts, long known) {
    LastPlaces last = new LastPlaces(query.limit(), share);
    KeyBlocks.Place from = live.lastBlocksOf(query.limit(), start());
    boolean found = from == null ? next() : walk.seek(live.start(from));
    for (; found; found = next()) {
      last.add(walk.place());
    }
    long count = last.added();
    if (from != null && count < query.limit()) {
      // At this revision, unlike at that of the blocks, there are fewer keys.
      last = new LastPlaces(query.limit(), share);
      for (found = walk.seek(start()); found; found = next()) {
        last.add(walk.place());
      }
      count = last.added();
    } else if (from != null) {
      count = known >= 0 ? known : count + live.between(start(), from);
    }
    noteWhole(counts, start(), count);
    List<Bytes> places = last.newestFirst();
    List<KeyValue> kvs = new ArrayList<>(places.size());
    for (Bytes place : places) {
      walk.back(place);
      take(kvs, decode());
    }
    return new RangeResult(
        headerRevision, Collections.unmodifiableList(kvs), count > kvs.size(), count);
  }

  private void take(List<KeyValue> kvs, KeyValue kv) {
    share.add(kv);
    kvs.add(kv);
  }

  private RangeResult result(List<KeyValue> found, long count) {
    if (!keyOrder()) {
      found.sort(comparator());
    }
    boolean more = limited() && found.size() > query.limit();
    List<KeyValue> kvs = more ? new ArrayList<>(found.subList(0, (int) query.limit())) : found;
    if (query.keysOnly() && query.target() == SortTarget.VALUE) {
      kvs.replaceAll(KeyValue::withoutValue);
    }
    return new RangeResult(headerRevision, Collections.unmodifiableList(kvs), more, count);
  }

  private Comparator<KeyValue> comparator() {
    Comparator<KeyValue> ascending = RecordOrder.ascending(query.target());
    return query.order() == SortOrder.DESCEND ? ascending.reversed() : ascending;
  }

  /** G6: keys-only records have no lease, unless values are needed for sorting. */
  private KeyValue decode() {
    return RecordOrder.needsKeysOnly(query.keysOnly(), query.target())
        ? walk.keyOnly()
        : walk.record();
  }

  private static boolean passes(RangeQuery query, KeyValue kv) {
    return within(kv.modRevision(), query.minModRevision(), query.maxModRevision())
        && within(kv.createRevision(), query.minCreateRevision(), query.maxCreateRevision());
  }

  /** G7: bounds are inclusive; 0 means no bound. */
  private static boolean within(long revision, long min, long max) {
    return (min == 0 || revision >= min) && (max == 0 || revision <= max);
  }

  private void noteWhole(@Nullable CountCache counts, Bytes first, long count) {
    if (counts != null && !query.range().isSingle()) {
      counts.note(start(), first, end(), atRevision, count);
    }
  }

  /** Caches the count for the next page, which starts after the last returned key. */
  private void noteRest(@Nullable CountCache counts, List<KeyValue> fetched, long count) {
    int last = fetched.size() - 2;
    if (counts != null && last >= 0 && !query.range().isSingle()) {
      Bytes next = fetched.get(last + 1).key();
      Bytes behindLast = fetched.get(last).key().successor();
      counts.note(behindLast, next, end(), atRevision, count - (last + 1));
    }
  }
}
