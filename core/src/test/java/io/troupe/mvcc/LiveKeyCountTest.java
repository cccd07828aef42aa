package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Counts of random ranges of several hundred keys, at any readable revision, against sets of keys:
 * with blocks that are split and merged all the time, long keys that no short start separates,
 * large deletions in several batches, compactions, restarts, and states of older programs.
 */
class LiveKeyCountTest {
  private static final int KEYS = 400;
  private static final Bytes OPEN = Bytes.of(0);

  private final InMemoryOrderedStore store = new InMemoryOrderedStore();
  private final List<Bytes> keys = new ArrayList<>();

  /** By revision from 1 on, the live keys. */
  private final List<NavigableSet<Bytes>> live = new ArrayList<>();

  private SplittableRandom random = new SplittableRandom();
  private EntryBounds bounds = EntryBounds.DEFAULT;
  private CountBounds countBounds = CountBounds.ofHeap();
  private StateMachine machine = new StateMachine(store, 0);
  private long compacted = -1;
  private String name = "";

  @ParameterizedTest
  @CsvSource({
    "2, 1000000, 1000000, 1",
    "3, 1000000, 2000, 7",
    "8, 1000000, 1000000, 3",
    "4, 6000, 500, 1",
    "2, 60000, 1000000, 1",
    "2, 2500, 1000000, 5",
    "512, 1000000, 4000, 2"
  })
  void countsAgreeWithSets_G4(int blockKeys, long blockBytes, long batchBytes, int commitEvery) {
    countBounds = new CountBounds(blockKeys, blockBytes);
    bounds = new EntryBounds(batchBytes, 50, 4 << 20);
    long mostBlocks = 0;
    for (long seed = 1; seed <= 4; seed++) {
      mostBlocks = Math.max(mostBlocks, run(seed * 1000 + blockKeys, commitEvery));
    }
    if (blockKeys < 512) {
      assertThat(mostBlocks).as("blocks").isGreaterThan(8);
    }
  }

  private long run(long seed, int commitEvery) {
    name = "seed=" + seed;
    random = new SplittableRandom(seed);
    clear();
    makeKeys();
    reopen();
    long mostBlocks = 0;
    for (int step = 1; step <= 500; step++) {
      change(step);
      if (step % commitEvery == 0) {
        machine.commit();
        compare();
        mostBlocks = Math.max(mostBlocks, machine.reader().countedBlocks().blocks());
      }
      if (random.nextInt(50) == 0) {
        machine.commit();
        if (random.nextInt(4) == 0) {
          OldStates.withoutCounts(store);
        } else if (random.nextInt(4) == 0) {
          OldStates.writtenLastWithoutCounts(store);
        }
        reopen();
      }
      if (random.nextInt(30) == 0) {
        machine.compactor().removeBatch(1 + random.nextInt(100));
      }
    }
    machine.commit();
    List<String> problems = new ArrayList<>();
    StoreCheck.run(store, problems::add);
    assertThat(problems).as(name).isEmpty();
    machine.close();
    return mostBlocks;
  }

  private void clear() {
    StoreBatch batch = new StoreBatch();
    for (OrderedStore.Space space : OrderedStore.Space.values()) {
      StoreRows.all(store, space).forEach(row -> batch.delete(space, row.key()));
    }
    store.write(batch);
    live.clear();
    live.add(new TreeSet<>());
    live.add(new TreeSet<>());
    compacted = -1;
  }

  private void reopen() {
    machine.close();
    machine = new StateMachine(store, random.nextBoolean() ? 0 : 1 << 20, bounds, countBounds);
    assertThat(machine.currentRevision()).as(name).isEqualTo(live.size() - 1);
    assertThat(machine.reader().keys()).as(name).isEqualTo(live.get(live.size() - 1).size());
  }

  private void makeKeys() {
    keys.clear();
    Bytes longPrefix = Bytes.wrap(new byte[KeyBlocks.MOST_START_BYTES + 44]);
    HashSet<Bytes> made = new HashSet<>();
    while (made.size() < KEYS) {
      byte[] tail = new byte[1 + random.nextInt(3)];
      for (int i = 0; i < tail.length; i++) {
        tail[i] = (byte) (random.nextInt(6) * 51);
      }
      Bytes key =
          switch (random.nextInt(4)) {
            case 0 -> Bytes.wrap(tail);
            case 1 -> Bytes.utf8("/registry/pods/" + random.nextInt(1000));
            case 2 -> longPrefix.concat(Bytes.wrap(tail));
            default -> Bytes.utf8("" + random.nextInt(500)).concat(Bytes.wrap(tail));
          };
      made.add(key);
    }
    keys.addAll(new TreeSet<>(made));
  }

  private Bytes key() {
    return keys.get(random.nextInt(keys.size()));
  }

  /** Bounds at keys, directly after keys, and between them. */
  private KeyRange range() {
    Bytes from = bound();
    return switch (random.nextInt(6)) {
      case 0 -> new KeyRange(OPEN, OPEN);
      case 1 -> new KeyRange(from, OPEN);
      case 2 -> KeyRange.single(key());
      default -> new KeyRange(from, bound());
    };
  }

  private Bytes bound() {
    Bytes key = key();
    return switch (random.nextInt(4)) {
      case 0 -> key.successor();
      case 1 -> key.slice(0, 1 + random.nextInt(key.length()));
      default -> key;
    };
  }

  // ---- changes ----

  private void change(int step) {
    NavigableSet<Bytes> after = new TreeSet<>(live.get(live.size() - 1));
    Operation operation = operation(step, after);
    apply(operation);
    if (machine.currentRevision() == live.size()) {
      live.add(after);
    }
    assertThat(machine.currentRevision()).as(name).isEqualTo(live.size() - 1);
  }

  private void apply(Operation operation) {
    machine.apply(machine.appliedIndex() + 1, 1, operation);
  }

  private Operation operation(int step, NavigableSet<Bytes> after) {
    int kind = random.nextInt(100);
    // Keys become many, then few, and so on.
    boolean grows = step % 200 < 130;
    if (kind < 60) {
      List<TxnOp> ops = new ArrayList<>();
      HashSet<Bytes> written = new HashSet<>();
      for (int i = random.nextInt(grows ? 20 : 5); i >= 0; i--) {
        Bytes key = key();
        if (written.add(key)) {
          after.add(key);
          ops.add(put(key));
        }
      }
      return new Operation.Txn(List.of(), ops, List.of());
    }
    if (kind < (grows ? 75 : 85)) {
      Bytes key = key();
      after.remove(key);
      return new Operation.DeleteRange(KeyRange.single(key), false);
    }
    if (kind < 92 && !(grows && random.nextBoolean())) {
      KeyRange range = range();
      after.removeIf(range::contains);
      return new Operation.DeleteRange(range, false);
    }
    if (kind < 97 || live.size() < 30) {
      return countedTxn(after);
    }
    long to = live.size() - 1L - random.nextInt(25);
    compacted = Math.max(compacted, to);
    return new Operation.Compact(to);
  }

  private Operation.Put put(Bytes key) {
    return new Operation.Put(key, Bytes.of(random.nextInt(256)), 0, false, false, false);
  }

  /** A transaction counts its own changes, and earlier revisions without them. */
  private Operation countedTxn(NavigableSet<Bytes> after) {
    KeyRange deleted = range();
    Bytes created = key();
    KeyRange counted = range();
    long old = Math.max(Math.max(compacted, 1), live.size() - 1 - random.nextInt(10));
    List<TxnOp> ops = new ArrayList<>();
    if (deleted.contains(created)) {
      deleted = KeyRange.single(created.successor());
    }
    after.removeIf(deleted::contains);
    after.add(created);
    ops.add(new Operation.DeleteRange(deleted, false));
    ops.add(put(created));
    ops.add(new Operation.Range(query(counted, 0, 0, SortOrder.NONE, true)));
    ops.add(new Operation.Range(query(counted, 0, old, SortOrder.NONE, true)));
    ops.add(new Operation.Range(query(counted, 2, 0, SortOrder.DESCEND, false)));
    Operation.Txn txn = new Operation.Txn(List.of(), ops, List.of());
    StateMachine reading = machine;
    Result.Txn result = (Result.Txn) reading.apply(reading.appliedIndex() + 1, 1, txn).result();
    assertThat(count(result, 2)).as(name).isEqualTo(size(after, counted));
    assertThat(count(result, 3)).as(name).isEqualTo(size(live.get((int) old), counted));
    assertThat(count(result, 4)).as(name).isEqualTo(size(after, counted));
    live.add(new TreeSet<>(after));
    // The operation that is applied next.
    Bytes more = key();
    after.add(more);
    return put(more);
  }

  private static long count(Result.Txn result, int response) {
    return ((Result.Range) result.responses().get(response)).range().count();
  }

  private static long size(NavigableSet<Bytes> all, KeyRange range) {
    return all.stream().filter(range::contains).count();
  }

  // ---- reads ----

  private static RangeQuery query(
      KeyRange range, long limit, long revision, SortOrder order, boolean countOnly) {
    return new RangeQuery(
        range, limit, revision, order, SortTarget.KEY, true, countOnly, 0, 0, 0, 0);
  }

  private RangeResult read(RangeQuery query) {
    return ((Result.Range) machine.reader().range(query)).range();
  }

  private void compare() {
    long newest = live.size() - 1L;
    long oldest = Math.max(compacted, 1);
    assertThat(machine.reader().keys()).as(name).isEqualTo(live.get((int) newest).size());
    for (int i = 0; i < 4; i++) {
      long at = random.nextBoolean() ? newest : oldest + random.nextLong(newest - oldest + 1);
      KeyRange range = range();
      List<Bytes> expected = live.get((int) at).stream().filter(range::contains).toList();
      String what = name + " " + range + " at " + at + " of " + newest;
      RangeQuery countOnly = query(range, 0, at, SortOrder.NONE, true);
      assertThat(read(countOnly).count()).as(what).isEqualTo(expected.size());
      if (!range.isSingle()) {
        int limit = 1 + random.nextInt(20);
        RangeResult page = read(query(range, limit, at, SortOrder.NONE, false));
        assertPage(what, page, expected, limit);
        RangeResult last = read(query(range, limit, at, SortOrder.DESCEND, false));
        List<Bytes> reversed = new ArrayList<>(expected);
        Collections.reverse(reversed);
        assertPage(what, last, reversed, limit);
      }
    }
  }

  private static void assertPage(String what, RangeResult page, List<Bytes> expected, int limit) {
    assertThat(page.kvs().stream().map(KeyValue::key).toList())
        .as(what)
        .isEqualTo(expected.subList(0, Math.min(limit, expected.size())));
    assertThat(page.count()).as(what).isEqualTo(expected.size());
    assertThat(page.more()).as(what).isEqualTo(expected.size() > limit);
  }
}
