package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import java.util.ArrayList;
import java.util.Arrays;
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

  /**
   * Prepares a read.
   *
   * @param walk over the query's range, before the first key
   * @param atRevision revision whose live keys it returns
   * @param headerRevision revision of the store in the header of the result
   * @param share counts the result; a read that exceeds the memory throws {@link
   *     MemoryBudget.Exceeded}
   */
  RangeRead(
      RecordWalk walk,
      RangeQuery query,
      long atRevision,
      long headerRevision,
      MemoryBudget.Share share) {
    this.walk = walk;
    this.query = query;
    this.atRevision = atRevision;
    this.headerRevision = headerRevision;
    this.share = share;
    this.steps = new WalkSteps(share);
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
      return lastKeys(counts);
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
    long count = 0;
    Bytes first = null;
    while (next()) {
      if (count++ == 0) {
        first = walk.key();
      }
    }
    noteWhole(counts, first, count);
    return count;
  }

  /** The limit is applied during the walk; the rest is only counted, and only once. */
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
      while (known < 0 && next()) {
        count++;
      }
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

  /** Descending keys with a limit: only the returned rows are decoded. */
  private RangeResult lastKeys(@Nullable CountCache counts) {
    Bytes[] ring = new Bytes[(int) Math.min(query.limit(), 1024)];
    long count = 0;
    Bytes first = null;
    while (next()) {
      if (count == ring.length && ring.length < query.limit()) {
        ring = Arrays.copyOf(ring, (int) Math.min(query.limit(), 2L * ring.length));
      }
      if (count < ring.length) {
        share.add(walk.place().length());
      }
      ring[(int) (count++ % ring.length)] = walk.place();
      first = first == null ? walk.key() : first;
    }
    noteWhole(counts, first, count);
    int taken = (int) Math.min(count, ring.length);
    List<KeyValue> kvs = new ArrayList<>(taken);
    for (long i = count - 1; i >= count - taken; i--) {
      walk.back(ring[(int) (i % ring.length)]);
      take(kvs, decode());
    }
    return new RangeResult(headerRevision, Collections.unmodifiableList(kvs), count > taken, count);
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

  private void noteWhole(@Nullable CountCache counts, @Nullable Bytes first, long count) {
    if (counts != null && first != null && !query.range().isSingle()) {
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
