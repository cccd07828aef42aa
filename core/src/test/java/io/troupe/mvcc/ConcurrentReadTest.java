package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.Compare;
import io.troupe.model.Event;
import io.troupe.model.KeyRange;
import io.troupe.model.KeyValue;
import io.troupe.model.MemoryBudget;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import io.troupe.txn.ReadEvaluator;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Readers concurrent with a writer and a compactor. Every revision writes its own number to four
 * keys and deletes and recreates a fifth, so any torn result is detected.
 */
class ConcurrentReadTest {
  private static final int REVISIONS = 4000;
  private static final KeyRange FOUR = new KeyRange(key("k"), key("l"));

  private StateMachine machine = new StateMachine(new InMemoryOrderedStore(), 0);
  private final AtomicBoolean writing = new AtomicBoolean(true);

  /** Without a cache, with a cache that always evicts, and with caches that hold everything. */
  @ParameterizedTest
  @ValueSource(longs = {0, 830, 1 << 16, 8 << 20})
  void readsAreConsistentDuringConcurrentWrites_R9_G2_W6(long cacheBytes) throws Exception {
    machine = new StateMachine(new InMemoryOrderedStore(), cacheBytes);
    List<Callable<Void>> readers =
        List.of(this::compactor, this::current, this::fifth, this::pinned, this::txn);
    ExecutorService threads = Executors.newFixedThreadPool(readers.size() + 1);
    try {
      List<Future<Void>> running = new ArrayList<>();
      for (Callable<Void> reader : readers) {
        running.add(threads.submit(reader));
      }
      running.add(threads.submit(this::history));
      try {
        write();
      } finally {
        writing.set(false);
      }
      for (Future<Void> each : running) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  /** Every revision creates a key; every fourth one deletes another. So counts follow from it. */
  @Test
  void countsAreThoseOfTheirRevisionWhileBlocksAreSplit_R9_G4() throws Exception {
    machine =
        new StateMachine(
            new InMemoryOrderedStore(), 0, EntryBounds.DEFAULT, new CountBounds(2, 1 << 20));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Void>> running =
          List.of(
              threads.submit(() -> counts(1)),
              threads.submit(() -> counts(2)),
              threads.submit(this::compactor));
      try {
        writeCounted();
      } finally {
        writing.set(false);
      }
      for (Future<Void> each : running) {
        each.get();
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(machine.reader().countedBlocks().blocks()).isGreaterThan(REVISIONS / 8);
  }

  private void writeCounted() {
    for (int i = 1; i <= REVISIONS; i++) {
      List<TxnOp> ops = new ArrayList<>();
      ops.add(new Operation.Put(counted(i), Bytes.EMPTY, 0, false, false, false));
      if (i % 4 == 0) {
        ops.add(new Operation.DeleteRange(KeyRange.single(counted(i / 2)), false));
      }
      machine.apply(machine.appliedIndex() + 1, 1, new Operation.Txn(List.of(), ops, List.of()));
      if (i % 50 == 0) {
        machine.apply(machine.appliedIndex() + 1, 1, new Operation.Compact(i - 30));
      }
      if (i % 3 == 0) {
        machine.commit();
      }
    }
    machine.commit();
  }

  private static Bytes counted(int number) {
    return key("c%08d".formatted(number * 7919L % 1_000_003));
  }

  private static long countedAt(long revision) {
    // Revision 2 is the first one.
    long changes = revision - 1;
    return changes - changes / 4;
  }

  private Void counts(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    while (writing.get()) {
      RangeResult all = ((Result.Range) machine.reader().count(KeyRange.all(), 0)).range();
      assertThat(all.count()).isEqualTo(countedAt(all.revision()));
      long at = Math.max(1, machine.reader().view().revision() - random.nextInt(20));
      Bytes middle = key("c%08d".formatted(random.nextInt(1_000_003)));
      Result low = machine.reader().count(new KeyRange(key("a"), middle), at);
      Result high = machine.reader().count(new KeyRange(middle, key("d")), at);
      if (low instanceof Result.Range left && high instanceof Result.Range right) {
        assertThat(left.range().count() + right.range().count()).isEqualTo(countedAt(at));
      }
      RangeResult page =
          ((Result.Range)
                  machine.reader().range(Fixture.plain(new KeyRange(key("c"), key("d")), 10)))
              .range();
      assertThat(page.count()).isEqualTo(countedAt(page.revision()));
    }
    return null;
  }

  private void write() {
    for (int i = 1; i <= REVISIONS; i++) {
      long revision = machine.currentRevision() + 1;
      List<TxnOp> ops = new ArrayList<>();
      for (String name : List.of("k1", "k2", "k3", "k4")) {
        ops.add(new Operation.Put(key(name), key("" + revision), 0, false, false, false));
      }
      ops.add(
          revision % 2 == 0
              ? new Operation.Put(key("m"), key("" + revision), 0, false, false, false)
              : new Operation.DeleteRange(one("m"), false));
      machine.apply(machine.appliedIndex() + 1, 1, new Operation.Txn(List.of(), ops, List.of()));
      if (i % 7 == 0) {
        machine.apply(machine.appliedIndex() + 1, 1, new Operation.Compact(revision - 3));
      }
      if (i % 3 == 0) {
        machine.commit();
      }
    }
    machine.commit();
  }

  private Void compactor() {
    while (writing.get()) {
      machine.compactor().removeBatch(13);
    }
    return null;
  }

  private Void current() {
    while (writing.get()) {
      RangeResult all = ((Result.Range) machine.reader().range(RangeQuery.of(FOUR, 0))).range();
      assertWhole(all, all.revision());
      RangeResult point =
          ((Result.Range) machine.reader().range(RangeQuery.of(one("k3"), 0))).range();
      RangeResult known = machine.reader().rangeInMemory(RangeQuery.of(one("k3"), 0));
      for (RangeResult read : known == null ? List.of(point) : List.of(point, known)) {
        if (read.revision() > 1) {
          assertThat(read.kvs().get(0).modRevision()).isEqualTo(read.revision());
        }
      }
    }
    return null;
  }

  /** The key is there at even revisions only. */
  private Void fifth() {
    while (writing.get()) {
      RangeResult m = ((Result.Range) machine.reader().range(RangeQuery.of(one("m"), 0))).range();
      assertThat(m.count()).isEqualTo(1 - m.revision() % 2);
      if (m.count() == 1) {
        assertThat(m.kvs().get(0).modRevision()).isEqualTo(m.revision());
      }
      RangeResult known = machine.reader().rangeInMemory(RangeQuery.of(one("m"), 0));
      if (known != null) {
        assertThat(known.count()).isEqualTo(1 - known.revision() % 2);
        assertThat(known.revision()).isGreaterThanOrEqualTo(m.revision());
      }
      long before = m.revision() - 1;
      Result old = machine.reader().range(RangeQuery.of(one("m"), before));
      if (before > 1 && old instanceof Result.Range range) {
        assertThat(range.range().count()).isEqualTo(1 - before % 2);
      }
    }
    return null;
  }

  private Void pinned() {
    while (writing.get()) {
      long revision = machine.reader().view().revision() - 2;
      Result result = machine.reader().range(RangeQuery.of(FOUR, revision));
      if (revision > 1 && result instanceof Result.Range range) {
        assertWhole(range.range(), revision);
      }
    }
    return null;
  }

  private static void assertWhole(RangeResult result, long revision) {
    if (revision == 1) {
      assertThat(result.kvs()).isEmpty();
      return;
    }
    assertThat(result.kvs()).hasSize(4);
    assertThat(result.count()).isEqualTo(4);
    for (KeyValue kv : result.kvs()) {
      assertThat(kv.modRevision()).isEqualTo(revision);
      assertThat(kv.value()).isEqualTo(key("" + revision));
      assertThat(result.revision()).isGreaterThanOrEqualTo(revision);
    }
  }

  /** X11: both parts of a transaction that only reads see one revision. */
  private Void txn() {
    ReadEvaluator evaluator = new ReadEvaluator(machine.reader());
    Operation.Txn txn =
        new Operation.Txn(
            List.of(
                new Compare(
                    one("k1"), Compare.Target.MOD, Compare.Relation.GREATER, 0, Bytes.EMPTY)),
            List.of(
                new Operation.Range(RangeQuery.of(one("k1"), 0)),
                new Operation.Range(RangeQuery.of(FOUR, 0))),
            List.of());
    while (writing.get()) {
      Result.Txn done = (Result.Txn) evaluator.txn(txn, MemoryBudget.UNLIMITED.share());
      if (done.succeeded()) {
        for (Result response : done.responses()) {
          RangeResult range = ((Result.Range) response).range();
          assertThat(range.revision()).isEqualTo(done.revision());
          assertThat(range.kvs()).allMatch(kv -> kv.modRevision() == done.revision());
        }
      }
    }
    return null;
  }

  /** A watch that follows: no gap, no repeat, whole revisions; only a compaction may cancel it. */
  private Void history() {
    long next = 2;
    while (writing.get()) {
      HistoryResult result = machine.reader().history(KeyRange.all(), next, 5, 1 << 20, true);
      if (result instanceof HistoryResult.Compacted compacted) {
        assertThat(compacted.compactedRevision()).isGreaterThan(next);
        next = compacted.compactedRevision();
        continue;
      }
      HistoryResult.Events events = (HistoryResult.Events) result;
      assertThat(events.events()).hasSize((int) (events.nextRevision() - next) * 5);
      for (int i = 0; i < events.events().size(); i++) {
        Event event = events.events().get(i);
        assertThat(event.kv().modRevision()).isEqualTo(next + i / 5);
        KeyValue prev = event.prev();
        assertThat(prev == null || prev.modRevision() == next + i / 5 - 1).isTrue();
      }
      next = events.nextRevision();
    }
    return null;
  }
}
