package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.key;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Stored counts of live keys that are wrong, or need more memory than the member may use. They are
 * derived: the member corrects them and does not stop.
 */
class WrongCountTest {
  private static final CountBounds SMALL = new CountBounds(4, 1 << 20);

  private final InMemoryOrderedStore rows = new InMemoryOrderedStore();
  private final CrashingStore store = new CrashingStore(rows);
  private CountBounds bounds = SMALL;
  private EntryBounds entryBounds = EntryBounds.DEFAULT;
  private StateMachine machine = new StateMachine(store, 0, entryBounds, bounds);

  private void apply(Operation operation) {
    machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
  }

  private void open() {
    machine.close();
    machine = new StateMachine(store, 0, entryBounds, bounds);
  }

  private void fill(int keys) {
    for (int i = 0; i < keys; i++) {
      apply(put("k" + (1000 + i), "v"));
    }
  }

  private void noop() {
    machine.noop(machine.appliedIndex() + 1, 1);
    machine.commit();
  }

  private List<Bytes> blockStarts() {
    List<Bytes> starts = new ArrayList<>();
    try (Cursor counts = CountRows.cursor(store)) {
      while (counts.next()) {
        starts.add(CountRows.start(counts.key()));
      }
    }
    return starts;
  }

  private void setCount(Bytes start, int count) {
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, CountRows.key(start), CountRows.value(count));
    store.write(batch);
  }

  private List<String> problems() {
    List<String> problems = new ArrayList<>();
    StoreCheck.run(store, problems::add);
    return problems;
  }

  private long corrections() {
    return machine.reader().countCorrections();
  }

  @Test
  void countAboveKeysOfBlockIsCorrectedWhenBlockIsSplit() {
    fill(50);
    Bytes start = blockStarts().get(3);
    setCount(start, 40);
    open();
    assertThat(machine.reader().keys()).as("before the correction").isGreaterThan(50);
    apply(put(start.utf8() + "x", "in the block"));
    noop();
    assertThat(machine.reader().keys()).isEqualTo(51);
    assertThat(corrections()).isEqualTo(1);
    assertThat(problems()).isEmpty();
  }

  @Test
  void countBelowKeysOfBlockIsCorrectedWhenKeysAreDeleted() {
    fill(50);
    Bytes start = blockStarts().get(3);
    setCount(start, 0);
    open();
    assertThat(machine.reader().keys()).as("before the correction").isLessThan(48);
    List<String> keys = keysFrom(start);
    long index = machine.appliedIndex();
    machine.apply(index + 1, 1, delete(one(keys.get(0))));
    machine.apply(index + 2, 1, delete(one(keys.get(1))));
    machine.commit();
    noop();
    assertThat(machine.reader().keys()).isEqualTo(48);
    assertThat(corrections()).isPositive();
    assertThat(problems()).isEmpty();
  }

  private static List<String> keysFrom(Bytes start) {
    List<String> keys = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      String key = "k" + (1000 + i);
      if (key(key).compareTo(start) >= 0) {
        keys.add(key);
      }
    }
    return keys;
  }

  /** Random wrong counts, then random changes: no input stops the member or makes a count < 0. */
  @Test
  void wrongCountsNeverStopChanges() {
    for (long seed = 1; seed <= 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      entryBounds = random.nextBoolean() ? EntryBounds.DEFAULT : new EntryBounds(300, 5, 1 << 20);
      fill(60);
      for (Bytes start : blockStarts()) {
        if (random.nextInt(3) == 0) {
          setCount(start, random.nextInt(4) == 0 ? random.nextInt(60) : random.nextInt(4));
        }
      }
      open();
      for (int i = 0; i < 60; i++) {
        String key = "k" + (1000 + random.nextInt(70));
        switch (random.nextInt(8)) {
          case 0 -> apply(delete(new KeyRange(key("k1000"), key(key))));
          case 1, 2 -> apply(delete(one(key)));
          default -> apply(put(key + (char) ('a' + random.nextInt(6)), "v"));
        }
        assertThat(machine.reader().keys()).as("seed=%d", seed).isNotNegative();
      }
      apply(delete(KeyRange.all()));
      for (int i = 0; i < 40; i++) {
        noop();
      }
      open();
    }
  }

  /** The blocks of a member with more memory. */
  @Test
  void storedBlocksAreMergedToBoundsOfThisMember() {
    fill(3000);
    long large = machine.reader().countedBlocks().bytes();
    bounds = new CountBounds(4, 4000);
    open();
    assertThat(large).isGreaterThan(8000);
    assertThat(machine.reader().countedBlocks().bytes()).isLessThan(4000);
    assertThat(machine.reader().keys()).isEqualTo(3000);
    assertThat(problems()).isEmpty();
    long written = store.writes();
    open();
    assertThat(store.writes()).as("batches of the second start").isEqualTo(written);
    assertThat(corrections()).isZero();
  }

  @Test
  void crashWhileStoredBlocksAreMergedLeavesStateThatIsCounted() {
    fill(3000);
    for (int writes = 0; writes < 4; writes++) {
      bounds = SMALL;
      OldStates.writtenLastWithoutCounts(store);
      open();
      bounds = new CountBounds(4, 4000);
      store.crashAfter(writes);
      assertThatThrownBy(this::open).isInstanceOf(CrashingStore.Crash.class);
      store.crashAfter(Long.MAX_VALUE);
      open();
      assertThat(machine.reader().keys()).isEqualTo(3000);
      assertThat(problems()).isEmpty();
    }
  }
}
