package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.Applied;
import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Refusal;
import io.troupe.model.Result;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Supplier;

/**
 * Drives a state machine over a store and a naive model with the same random operations, and
 * compares results, events, reads of any revision, history and hashes; with concurrent compaction,
 * restarts, and crashes that lose uncommitted entries. Any {@link OrderedStore} can be driven:
 * {@code new StoreModelDriver(stores, seed).run(steps, commitEvery)}.
 */
public class StoreModelDriver {
  private final Supplier<OrderedStore> stores;
  private final long cacheBytes;
  private final String name;
  private final SplittableRandom random;

  /** For exports, which must not change the operations of a seed. */
  private final SplittableRandom exports;

  /** For counts, with the same condition. */
  private final SplittableRandom counts;

  private int blocksSeen;
  private int readsInMemory;

  private final OperationSource source;
  private final List<Operation> log = new ArrayList<>();
  private final NaiveState model = new NaiveState();
  private final EntryBounds bounds;
  private final CountBounds countBounds;
  private int sameCompactions;
  private int crashesInsideEntries;

  /**
   * Prepares a run.
   *
   * @param stores returns a new empty store at each call; the run closes it
   * @param seed of everything random
   */
  public StoreModelDriver(Supplier<OrderedStore> stores, long seed) {
    this(stores, seed, EntryBounds.DEFAULT);
  }

  /**
   * Prepares a run.
   *
   * @param bounds of the first store; its effects must not depend on them
   */
  public StoreModelDriver(Supplier<OrderedStore> stores, long seed, EntryBounds bounds) {
    this(stores, seed, bounds, new CountBounds(2 + (int) (seed % 7), 1 << 20));
  }

  /**
   * Prepares a run.
   *
   * @param countBounds of the first store; its effects must not depend on them
   */
  public StoreModelDriver(
      Supplier<OrderedStore> stores, long seed, EntryBounds bounds, CountBounds countBounds) {
    this.countBounds = countBounds;
    this.bounds = bounds;
    this.stores = stores;
    this.cacheBytes = seed % 3 == 0 ? 0 : seed % 3 == 1 ? 1000 : 1 << 20;
    this.name = "seed=" + seed;
    this.random = new SplittableRandom(seed);
    this.exports = new SplittableRandom(seed);
    this.counts = new SplittableRandom(seed);
    this.source = new OperationSource(random);
  }

  /**
   * What a restart does to the store. A durable store may close it here and open it again.
   *
   * @return the store to continue with, with the same content
   */
  protected OrderedStore restarted(OrderedStore store) {
    return store;
  }

  /**
   * Runs.
   *
   * @param steps number of operations
   * @param commitEvery entries in one batch
   */
  public final void run(int steps, int commitEvery) {
    OrderedStore store = stores.get();
    CrashingStore writes = new CrashingStore(store);
    StateMachine machine = new StateMachine(writes, cacheBytes, bounds, countBounds);
    for (int step = 1; step <= steps; step++) {
      Operation operation = source.next(model.revision);
      log.add(operation);
      int eventsBefore = model.events.size();
      Result expected = model.apply(operation);
      if (random.nextInt(20) == 0) {
        writes.crashAfter(random.nextInt(4));
      }
      try {
        Applied applied = machine.apply(log.size(), 1 + step / 100, operation);
        writes.crashAfter(Long.MAX_VALUE);
        compare(operation, expected, applied, eventsBefore);
      } catch (CrashingStore.Crash crash) {
        machine.close();
        readAfterCrash(store);
        store = restarted(store);
        writes = new CrashingStore(store);
        machine = recovered(writes);
      }
      if (step % commitEvery == 0) {
        machine.commit();
        read(machine.reader());
        assertLatest(store);
        if (counts.nextInt(5) == 0) {
          assertConsistent(store);
        }
        if (exports.nextInt(10) == 0) {
          assertThat(exported(store)).as(name).isEqualTo(model.revision);
        }
        if (random.nextInt(4) == 0) {
          machine.compactor().removeBatch(1 + random.nextInt(20));
        }
        if (random.nextInt(4) == 0) {
          machine.reader().hashCompaction();
        }
      }
      if (random.nextInt(60) == 0) {
        machine.close();
        store = restarted(store);
        writes = new CrashingStore(store);
        machine = recovered(writes);
      }
    }
    machine.commit();
    finish(store, machine, commitEvery);
    machine.close();
    store.close();
  }

  private void compare(Operation operation, Result expected, Applied applied, int eventsBefore) {
    assertThat(applied.result()).as("%s %s", name, operation).isEqualTo(expected);
    assertThat(applied.revision()).as("%s %s", name, operation).isEqualTo(model.revision);
    List<Event> events = model.events.subList(eventsBefore, model.events.size());
    KeyRange unlisted = applied.changes().unlisted();
    if (unlisted == null) {
      assertThat(applied.events()).as("%s events of %s", name, operation).isEqualTo(events);
    } else {
      assertThat(applied.events()).as(name).isEmpty();
      assertThat(events).as(name).isNotEmpty();
      assertThat(events).as(name).allMatch(event -> unlisted.contains(event.kv().key()));
    }
  }

  /** A store that contains a part of an entry shows the state before that entry. */
  private void readAfterCrash(OrderedStore store) {
    if (PartialEntry.find(store) == null) {
      return;
    }
    crashesInsideEntries++;
    StateMachine opened = new StateMachine(store, cacheBytes, bounds, countBounds);
    long at = opened.currentRevision();
    if (at >= model.compacted) {
      RangeQuery all = RangeQuery.of(KeyRange.all(), 0);
      List<KeyValue> live = List.copyOf(model.live(KeyRange.all(), at).values());
      assertThat(((Result.Range) opened.reader().range(all)).range().kvs())
          .as(name)
          .isEqualTo(live);
      for (KeyValue kv : live) {
        assertThat(opened.reader().get(kv.key())).as(name).isEqualTo(kv);
      }
    }
    assertThat(opened.reader().keys()).as(name).isEqualTo(model.live(KeyRange.all(), at).size());
    opened.close();
    assertThat(exported(store)).as(name).isEqualTo(at);
  }

  /**
   * An export contains what a finished compaction keeps, in any windows (MT8). Returns its
   * revision.
   */
  private long exported(OrderedStore store) {
    try (StoreView view = store.freeze()) {
      FrozenHistory at = FrozenHistory.of(view);
      List<List<Bytes>> expected = new ArrayList<>();
      for (NaiveState.Version version : model.versions) {
        if (version.main() <= at.revision() && isKept(version, at.compactedRevision())) {
          KeyValue kv = version.kv();
          EtcdRecord record =
              kv == null
                  ? EtcdRecord.tombstone(version.main(), version.sub(), version.key())
                  : EtcdRecord.put(kv, version.sub());
          expected.add(List.of(record.key(), joined(record.message())));
        }
      }
      List<List<Bytes>> exported = new ArrayList<>();
      long bytes = 0;
      HistoryExport export = new HistoryExport(view, at, 1 + exports.nextInt(20_000));
      while (export.next()) {
        Bytes message = joined(export.message());
        exported.add(List.of(export.key(), message));
        bytes += export.key().length() + message.length();
      }
      assertThat(exported).as("%s export at %s", name, at).isEqualTo(expected);
      HistorySizes sizes = new HistorySizes(view, at);
      int step = 1 + exports.nextInt(50);
      while (sizes.advance(step)) {
        assertThat(sizes.records()).as(name).isLessThanOrEqualTo(expected.size());
      }
      assertThat(List.of(sizes.records(), sizes.bytes()))
          .as("%s sizes at %s", name, at)
          .isEqualTo(List.of((long) expected.size(), bytes));
      return at.revision();
    }
  }

  private static Bytes joined(List<Bytes> parts) {
    Bytes joined = Bytes.EMPTY;
    for (Bytes part : parts) {
      joined = joined.concat(part);
    }
    return joined;
  }

  private boolean isKept(NaiveState.Version version, long compacted) {
    boolean newest =
        model.versions.stream()
            .noneMatch(
                v ->
                    v.key().equals(version.key())
                        && v.main() <= compacted
                        && (v.main() > version.main()
                            || (v.main() == version.main() && v.sub() > version.sub())));
    return version.main() >= compacted || (newest && version.kv() != null);
  }

  /** Most blocks so far in which the live keys were counted. */
  public int blocksSeen() {
    return blocksSeen;
  }

  /** Number of ranges so far whose result was in memory. */
  public int readsInMemory() {
    return readsInMemory;
  }

  /** Number of crashes so far that left a part of an entry in the store. */
  public int crashesInsideEntries() {
    return crashesInsideEntries;
  }

  /** Loses uncommitted entries; the log applies them again, with the same result. */
  private StateMachine recovered(OrderedStore store) {
    StateMachine machine = new StateMachine(store, cacheBytes, bounds, countBounds);
    for (long index = machine.appliedIndex() + 1; index <= log.size(); index++) {
      machine.apply(index, 1 + index / 100, log.get((int) index - 1));
    }
    machine.commit();
    assertThat(machine.currentRevision()).as(name).isEqualTo(model.revision);
    return machine;
  }

  // ---- reads ----

  private void read(MvccReader reader) {
    for (int i = 0; i < 3; i++) {
      RangeQuery query = source.query(model.revision);
      Result expected = model.range(query);
      RangeResult inMemory = reader.rangeInMemory(query);
      if (inMemory != null) {
        readsInMemory++;
        assertThat(new Result.Range(inMemory)).as("%s %s", name, query).isEqualTo(expected);
      }
      assertThat(reader.range(query)).as("%s %s", name, query).isEqualTo(expected);
    }
    readPages(reader);
    readHistory(reader);
    for (long lease : new long[] {-1, 1, 2, 3}) {
      assertThat(reader.attachedKeys(lease)).as(name).isEqualTo(model.attached(lease));
    }
    assertThat(reader.leases()).as(name).hasSameSizeAs(model.leases.entrySet());
    assertThat(reader.keys())
        .as("%s live keys", name)
        .isEqualTo(model.live(KeyRange.all(), Long.MAX_VALUE).size());
  }

  /** Unary pages of a list (KU2) and chunks of a stream (GS4) together return the whole range. */
  private void readPages(MvccReader reader) {
    KeyRange range = source.range();
    long revision = Math.max(Math.max(1, model.compacted), model.revision - random.nextInt(5));
    List<KeyValue> all = List.copyOf(model.live(range, revision).values());
    List<KeyValue> paged = new ArrayList<>();
    List<KeyValue> chunked = new ArrayList<>();
    int limit = 1 + random.nextInt(4);
    Bytes next = range.isSingle() ? null : range.key();
    while (next != null) {
      KeyRange rest = new KeyRange(next, range.rangeEnd());
      RangeResult page = ((Result.Range) reader.range(limited(rest, limit, revision))).range();
      assertThat(page.count()).as(name).isEqualTo(all.size() - paged.size());
      paged.addAll(page.kvs());
      next = page.more() ? page.kvs().get(page.kvs().size() - 1).key().successor() : null;
    }
    Bytes from = range.key();
    while (from != null) {
      KeyRange rest = new KeyRange(from, range.rangeEnd());
      Page.Records chunk =
          (Page.Records) reader.page(rest, revision, limit, random.nextInt(20), false);
      chunked.addAll(chunk.kvs());
      from = chunk.next();
    }
    assertThat(chunked).as(name).isEqualTo(all);
    readBackwards(reader, range, revision, all);
    if (!range.isSingle()) {
      assertThat(paged).as(name).isEqualTo(all);
    }
  }

  /** The last keys of a range with its count, and the count of any part of it alone. */
  private void readBackwards(MvccReader reader, KeyRange range, long revision, List<KeyValue> all) {
    int limit = 1 + counts.nextInt(8);
    RangeQuery last =
        new RangeQuery(
            range,
            limit,
            revision,
            RangeQuery.SortOrder.DESCEND,
            RangeQuery.SortTarget.KEY,
            false,
            false,
            0,
            0,
            0,
            0);
    List<KeyValue> expected =
        new ArrayList<>(all.subList(Math.max(0, all.size() - limit), all.size()));
    Collections.reverse(expected);
    RangeResult found = ((Result.Range) reader.range(last)).range();
    assertThat(found.kvs()).as("%s %s", name, last).isEqualTo(expected);
    assertThat(found.count()).as("%s %s", name, last).isEqualTo(all.size());
    assertThat(found.more()).as("%s %s", name, last).isEqualTo(all.size() > limit);
    for (int i = 0; i < 3; i++) {
      KeyRange part = OperationSource.part(counts);
      long at = Math.max(Math.max(1, model.compacted), model.revision - counts.nextInt(60));
      assertThat(((Result.Range) reader.count(part, at)).range().count())
          .as("%s count of %s at %d of %d", name, part, at, model.revision)
          .isEqualTo(model.live(part, at).size());
    }
  }

  private static RangeQuery limited(KeyRange range, long limit, long revision) {
    RangeQuery all = RangeQuery.of(range, revision);
    return new RangeQuery(
        range, limit, revision, all.order(), all.target(), false, false, 0, 0, 0, 0);
  }

  private void readHistory(MvccReader reader) {
    long from = Math.max(0, model.revision - random.nextInt(-2, 25));
    KeyRange range = source.range();
    boolean withPrev = random.nextBoolean();
    int revisions = 1 + random.nextInt(6);
    HistoryResult result =
        reader.history(range, from, revisions, 1 + random.nextInt(500), withPrev);
    if (from < model.compacted) {
      assertThat(result).as(name).isEqualTo(new HistoryResult.Compacted(model.compacted));
      return;
    }
    HistoryResult.Events events = (HistoryResult.Events) result;
    assertThat(events.nextRevision()).as(name).isGreaterThanOrEqualTo(from);
    assertThat(events.nextRevision() > from || from > model.revision).as(name).isTrue();
    assertThat(events.events())
        .as("%s from %d", name, from)
        .isEqualTo(model.history(range, from, events.nextRevision(), withPrev));
    assertThat(events.events().stream().map(Event::kv).map(KeyValue::modRevision).distinct())
        .hasSizeLessThanOrEqualTo(revisions);
  }

  // ---- the end ----

  /** The same log on a second store, in other batches, results in the same bytes. */
  private void finish(OrderedStore store, StateMachine machine, int commitEvery) {
    OrderedStore other = stores.get();
    StateMachine second = new StateMachine(other, 3000);
    for (int i = 1; i <= log.size(); i++) {
      second.apply(i, 1 + i / 100, log.get(i - 1));
      if (i % (commitEvery * 3 + 1) == 0) {
        second.commit();
        if (random.nextInt(3) == 0) {
          removeAll(second);
          second.reader().hashCompaction();
        }
      }
    }
    second.commit();
    compareCompactionHashes(machine, second);
    for (long at = Math.max(1, model.compacted); at <= model.revision; at++) {
      assertThat(machine.reader().hashNow(at)).as(name).isEqualTo(second.reader().hashNow(at));
    }
    removeAll(machine);
    HashResult removed = machine.reader().hashNow(model.revision);
    assertThat(removed).as("%s hash after removal", name).isEqualTo(second.reader().hash(0));
    removeAll(second);
    for (Space space : Space.values()) {
      assertThat(StoreRows.replicated(store, space))
          .as("%s %s", name, space)
          .isEqualTo(StoreRows.replicated(other, space));
    }
    assertKept(store);
    assertLatest(store);
    compactAll(machine, second);
    second.close();
    other.close();
  }

  /** MT6: hashes that both have are equal, regardless of the progress of removal; at most ten. */
  private void compareCompactionHashes(StateMachine machine, StateMachine second) {
    machine.reader().hashCompaction();
    second.reader().hashCompaction();
    Map<Long, HashResult.Hash> known = new HashMap<>();
    List<HashResult.Hash> remembered = machine.reader().compactionHashes();
    remembered.forEach(hash -> known.put(hash.hashRevision(), hash));
    assertThat(remembered).as(name).hasSizeLessThanOrEqualTo(10);
    for (HashResult.Hash hash : second.reader().compactionHashes()) {
      assertThat(known.getOrDefault(hash.hashRevision(), hash)).as(name).isEqualTo(hash);
      sameCompactions += known.containsKey(hash.hashRevision()) ? 1 : 0;
    }
  }

  /** Number of compaction hashes so far that both stores had. */
  public int sameCompactions() {
    return sameCompactions;
  }

  private static void removeAll(StateMachine machine) {
    Compactor.Progress progress = machine.compactor().removeBatch(7);
    while (!progress.done()) {
      progress = machine.compactor().removeBatch(7);
    }
  }

  /** C2: at or below the compacted revision only versions stay that may be read or watched. */
  private void assertKept(OrderedStore store) {
    List<Bytes> expected = new ArrayList<>();
    for (NaiveState.Version version : model.versions) {
      if (isKept(version, model.compacted)) {
        expected.add(StoreKeys.revision(version.main(), version.sub()));
      }
    }
    List<Bytes> kept =
        StoreRows.all(store, Space.REV).stream().map(StoreBatch.Change::key).toList();
    assertThat(kept).as("%s kept at %d", name, model.compacted).isEqualTo(expected);
  }

  /** Newest records and history never differ: one row for each live key, below the revision. */
  private void assertLatest(OrderedStore store) {
    List<StoreBatch.Change> expected = new ArrayList<>();
    if (model.revision > MvccStore.FIRST_REVISION) {
      expected.add(
          new StoreBatch.Change(Space.LATEST, Bytes.EMPTY, RowCodec.longs(model.revision)));
    }
    for (KeyValue kv : model.live(KeyRange.all(), model.revision).values()) {
      expected.add(new StoreBatch.Change(Space.LATEST, kv.key(), RowCodec.latest(kv, subOf(kv))));
    }
    assertThat(StoreRows.all(store, Space.LATEST)).as(name).isEqualTo(expected);
  }

  private int subOf(KeyValue kv) {
    int sub = -1;
    for (NaiveState.Version version : model.versions) {
      boolean same = version.main() == kv.modRevision() && version.key().equals(kv.key());
      sub = same ? version.sub() : sub;
    }
    return sub;
  }

  /** Rules across rows, with the counts of the blocks. */
  private void assertConsistent(OrderedStore store) {
    List<String> problems = new ArrayList<>();
    StoreCheck.run(store, problems::add);
    assertThat(problems).as(name).isEmpty();
    Bytes counted = CountRows.key(Bytes.EMPTY);
    long blocks =
        StoreRows.all(store, Space.META).stream()
            .filter(row -> row.key().startsWith(counted))
            .count();
    blocksSeen = (int) Math.max(blocksSeen, blocks);
  }

  /** Compacting at the current revision leaves nothing but the live keys and its own deletions. */
  private void compactAll(StateMachine machine, StateMachine second) {
    for (StateMachine each : List.of(machine, second)) {
      Applied applied =
          each.apply(log.size() + 1, 1_000_000, new Operation.Compact(model.revision));
      each.commit();
      removeAll(each);
      if (model.compacted == model.revision) {
        assertThat(applied.result()).isEqualTo(new Result.Refused(Refusal.COMPACTED));
      }
    }
    assertThat(machine.reader().hash(0)).as(name).isEqualTo(second.reader().hash(0));
    RangeQuery all = RangeQuery.of(KeyRange.all(), 0);
    List<KeyValue> live = List.copyOf(model.live(KeyRange.all(), model.revision).values());
    assertThat(((Result.Range) machine.reader().range(all)).range().kvs()).isEqualTo(live);
  }
}
