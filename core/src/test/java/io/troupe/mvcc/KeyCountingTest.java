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
import io.troupe.model.Result;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** States of programs without counts of live keys. */
class KeyCountingTest {
  private static final CountBounds SMALL = new CountBounds(4, 1 << 20);

  private final InMemoryOrderedStore rows = new InMemoryOrderedStore();
  private final CrashingStore store = new CrashingStore(rows);
  private StateMachine machine = new StateMachine(store, 0, EntryBounds.DEFAULT, SMALL);

  private void apply(Operation operation) {
    machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
  }

  private void open() {
    machine.close();
    machine = new StateMachine(store, 0, EntryBounds.DEFAULT, SMALL);
  }

  private void fill() {
    for (int i = 0; i < 100; i++) {
      apply(put("k" + (100 + i), "v"));
    }
    apply(delete(one("k150")));
    apply(put("k150", "again"));
    apply(delete(one("k160")));
    apply(put("k170", "other"));
  }

  private long count(KeyRange range, long revision) {
    return ((Result.Range) machine.reader().count(range, revision)).range().count();
  }

  private void assertSound() {
    List<String> problems = new ArrayList<>();
    StoreCheck.run(store, problems::add);
    assertThat(problems).isEmpty();
  }

  @Test
  void stateWithoutCountsIsCountedOnce() {
    fill();
    for (long schema : new long[] {3, 4, 6}) {
      OldStates.withoutCounts(store);
      OldStates.schema(store, schema);
      assertThat(KeyCounting.isNeeded(store)).isTrue();
      open();
      assertThat(KeyCounting.isNeeded(store)).isFalse();
      assertThat(machine.reader().keys()).isEqualTo(99);
      assertThat(machine.reader().countedBlocks().blocks()).isBetween(99L / 8, 99L / 4);
      assertSound();
      long written = store.writes();
      open();
      assertThat(store.writes()).as("batches of the second start").isEqualTo(written);
      assertThat(machine.reader().keys()).isEqualTo(99);
    }
  }

  /** In such a state changes do not show which puts created a key. */
  @Test
  void oldRevisionsOfStateWithoutCountsAreCounted_G4() {
    fill();
    OldStates.withoutCounts(store);
    open();
    apply(put("k300", "new"));
    for (int revision = 2; revision <= 101; revision++) {
      assertThat(count(KeyRange.all(), revision)).isEqualTo(revision - 1);
    }
    assertThat(count(KeyRange.all(), 102)).isEqualTo(99);
    assertThat(count(KeyRange.all(), 103)).isEqualTo(100);
    assertThat(count(KeyRange.all(), 104)).isEqualTo(99);
    assertThat(count(KeyRange.all(), 106)).isEqualTo(100);
  }

  /** An older program was started in between: its changes are not in the counts. */
  @Test
  void outdatedCountsAreReplaced() {
    fill();
    open();
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, CountRows.key(key("k13")), CountRows.value(77));
    batch.put(Space.META, CountRows.key(key("z")), CountRows.value(5));
    store.write(batch);
    OldStates.writtenLastWithoutCounts(store);
    open();
    assertThat(machine.reader().keys()).isEqualTo(99);
    assertThat(store.get(Space.META, CountRows.key(key("z")))).isNull();
    assertSound();
  }

  @Test
  void crashWhileCountingLeavesStateWithoutCounts() {
    fill();
    for (int writes = 0; writes < 3; writes++) {
      OldStates.writtenLastWithoutCounts(store);
      store.crashAfter(writes);
      assertThatThrownBy(this::open).isInstanceOf(CrashingStore.Crash.class);
      store.crashAfter(Long.MAX_VALUE);
      assertThat(KeyCounting.isNeeded(store)).isTrue();
      open();
      assertThat(machine.reader().keys()).isEqualTo(99);
      assertSound();
    }
  }

  @Test
  void partialEntryDoesNotCount() {
    fill();
    machine.close();
    machine = new StateMachine(store, 0, new EntryBounds(500, 5, 1 << 20), SMALL);
    store.crashAfter(3);
    assertThatThrownBy(() -> apply(delete(KeyRange.all()))).isInstanceOf(CrashingStore.Crash.class);
    store.crashAfter(Long.MAX_VALUE);
    assertThat(PartialEntry.find(store)).isNotNull();
    open();
    assertThat(machine.reader().keys()).as("stored counts").isEqualTo(99);
    OldStates.writtenLastWithoutCounts(store);
    open();
    assertThat(machine.reader().keys()).as("counted").isEqualTo(99);
    assertThat(count(KeyRange.all(), 0)).isEqualTo(99);
    apply(delete(KeyRange.all()));
    assertThat(machine.reader().keys()).isZero();
    assertSound();
  }

  /** The first batch of a large entry contains small entries before it, with their counts. */
  @Test
  void countsOfEntriesBeforePartialEntryAreStored() {
    fill();
    machine.close();
    machine = new StateMachine(store, 0, new EntryBounds(3000, 5, 1 << 20), SMALL);
    machine.apply(machine.appliedIndex() + 1, 1, put("a", "before"));
    machine.apply(machine.appliedIndex() + 1, 1, put("b", "before"));
    long complete = machine.appliedIndex();
    store.crashAfter(1);
    assertThatThrownBy(() -> apply(delete(KeyRange.all()))).isInstanceOf(CrashingStore.Crash.class);
    store.crashAfter(Long.MAX_VALUE);
    open();
    assertThat(machine.appliedIndex()).isEqualTo(complete);
    assertThat(machine.reader().keys()).isEqualTo(101);
    machine.noop(complete + 1, 1);
    machine.commit();
    assertThat(count(new KeyRange(key("a"), Bytes.of(0)), 0)).isEqualTo(101);
    assertSound();
  }

  @Test
  void damagedCountsAreRefused() {
    fill();
    StoreBatch batch = new StoreBatch();
    batch.delete(Space.META, CountRows.key(Bytes.EMPTY));
    store.write(batch);
    assertThatThrownBy(this::open).isInstanceOf(StoreException.class);
  }
}
