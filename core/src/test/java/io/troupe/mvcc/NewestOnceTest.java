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
import io.troupe.model.KeyValue;
import io.troupe.model.Operation;
import io.troupe.model.RangeQuery;
import io.troupe.model.Result;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Each version of a key is stored once: the newest one in LATEST, the others in KEY. */
class NewestOnceTest {
  private final CountingStore store = new CountingStore();
  private final CrashingStore crashing = new CrashingStore(store);
  private EntryBounds bounds = EntryBounds.DEFAULT;
  private StateMachine machine = new StateMachine(crashing, 0);

  private void apply(Operation operation) {
    machine.apply(machine.appliedIndex() + 1, 1, operation);
    machine.commit();
  }

  private void open() {
    machine.close();
    machine = new StateMachine(crashing, 1 << 16, bounds, CountBounds.ofHeap());
  }

  private List<String> history() {
    List<String> rows = new ArrayList<>();
    for (StoreBatch.Change row : StoreRows.all(store, Space.KEY)) {
      rows.add(
          StoreKeys.userKey(row.key()).utf8()
              + "@"
              + StoreKeys.main(row.key())
              + (StoreKeys.isTombstone(row.key()) ? " deleted" : ""));
    }
    return rows;
  }

  private List<KeyValue> read(long revision) {
    RangeQuery query = RangeQuery.of(KeyRange.all(), revision);
    return ((Result.Range) machine.reader().range(query)).range().kvs();
  }

  private void assertSound() {
    List<String> problems = new ArrayList<>();
    StoreCheck.run(store, problems::add);
    assertThat(problems).isEmpty();
  }

  @Test
  void replacedVersionMovesToHistory() {
    apply(put("a", "1"));
    apply(put("b", "1"));
    assertThat(history()).isEmpty();
    apply(put("a", "2"));
    assertThat(history()).containsExactly("a@2");
    open();
    apply(put("a", "3"));
    assertThat(history()).containsExactly("a@4", "a@2");
    apply(delete(one("b")));
    assertThat(history()).containsExactly("a@4", "a@2", "b@6 deleted", "b@3");
    assertThat(read(3))
        .extracting(kv -> kv.key().utf8() + kv.value().utf8())
        .containsExactly("a1", "b1");
    apply(new Operation.Compact(6));
    machine.compactor().removeBatch(100);
    assertThat(history()).containsExactly("b@6 deleted");
    assertSound();
  }

  /** A key that does not exist is not looked up in the history, which would be a second miss. */
  @Test
  void creationOfKeyReadsNoHistory() {
    apply(put("deleted", "1"));
    apply(put("other", "1"));
    apply(delete(one("deleted")));
    open();
    store.opened.clear();
    apply(put("new", "1"));
    apply(put("deleted", "2"));
    apply(new Operation.Txn(List.of(), List.of(put("in txn", "1"), put("other", "2")), List.of()));
    assertThat(store.opened).doesNotContainKey(Space.KEY);
    assertThat(read(0))
        .extracting(kv -> kv.key().utf8() + kv.version())
        .containsExactly("deleted1", "in txn1", "new1", "other2");
    assertSound();
  }

  /** All that a txn changes has one main revision: the place in it counts. */
  @Test
  void placeInRevisionIsKept() {
    List<Operation.TxnOp> puts = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      puts.add(put("k" + i, "1"));
    }
    apply(new Operation.Txn(List.of(), puts, List.of()));
    for (int i = 4; i >= 0; i--) {
      open();
      apply(put("k" + i, "2"));
    }
    List<Integer> places = new ArrayList<>();
    for (StoreBatch.Change row : StoreRows.all(store, Space.KEY)) {
      places.add(StoreKeys.sub(row.key()));
    }
    assertThat(places).containsExactly(0, 1, 2, 3, 4);
    assertSound();
  }

  /** The first start with a state of an older program changes one row: the schema. */
  @Test
  void stateWithNewestVersionsInBothSpacesIsContinued() {
    apply(put("a", "1"));
    apply(put("b", "1"));
    apply(put("a", "2"));
    Result before = machine.reader().range(RangeQuery.of(KeyRange.all(), 0));
    HashResult hash = machine.reader().hash(0);
    OldStates.withNewestTwice(store);
    assertThat(history()).containsExactly("a@4", "a@2", "b@3");
    long written = crashing.writes();
    open();
    assertThat(crashing.writes()).isEqualTo(written + 1);
    assertThat(StoreSchema.hasNewestTwice(schemaRow())).isFalse();
    assertThat(machine.reader().range(RangeQuery.of(KeyRange.all(), 0))).isEqualTo(before);
    assertThat(machine.reader().hash(0)).isEqualTo(hash);
    assertSound();
    apply(put("a", "3"));
    apply(put("a", "4"));
    apply(delete(one("b")));
    assertThat(history()).containsExactly("a@5", "a@4", "a@2", "b@7 deleted", "b@3");
    assertSound();
  }

  /** Between the two cursors of a read, the newest version moves to the history. */
  @Test
  void versionThatMovesWhileReadIsOpenedIsFound() {
    apply(put("a", "1"));
    apply(put("b", "1"));
    beforeCursor(2, () -> apply(put("a", "2")));
    assertThat(read(2)).extracting(kv -> kv.key().utf8() + kv.value().utf8()).containsExactly("a1");
    beforeCursor(3, () -> apply(put("b", "2")));
    HistoryResult history = machine.reader().history(KeyRange.all(), 3, 1, 1 << 20, false);
    assertThat(((HistoryResult.Events) history).events())
        .extracting(event -> event.kv().key().utf8() + event.kv().value().utf8())
        .containsExactly("b1");
    assertThat(machine.currentRevision()).as("both changes came in between").isEqualTo(5);
  }

  /** Between the two cursors of a read, a partial entry is undone, or undone and applied again. */
  @Test
  void versionIsFoundWhilePartialEntryIsUndone() {
    for (int i = 0; i < 20; i++) {
      apply(put("k" + (10 + i), "1"));
    }
    bounds = new EntryBounds(400, 5, 1 << 20);
    open();
    Operation deletion = delete(KeyRange.all());
    assertThat(crashes(deletion, 2)).isTrue();
    open();
    long base = machine.currentRevision();
    int undo = 2;
    // The first cursor shows that LATEST does not belong to the base revision.
    beforeCursor(3, () -> assertThat(crashes(deletion, undo)).isTrue());
    assertThat(read(base)).as("only the undo came in between").hasSize(20);
    open();
    assertThat(PartialEntry.find(store)).as("it is complete").isNull();
    assertThat(crashes(deletion, 2)).isTrue();
    open();
    beforeCursor(3, () -> apply(deletion));
    assertThat(read(base)).as("the entry too").hasSize(20);
    assertThat(machine.currentRevision()).isEqualTo(base + 1);
    assertThat(read(base)).hasSize(20);
    assertThat(read(0)).isEmpty();
    assertSound();
  }

  /** Runs a change before the next cursor but {@code number - 1} is opened. */
  private void beforeCursor(int number, Runnable change) {
    int before = cursors();
    store.beforeCursor =
        () -> {
          if (cursors() == before + number - 1) {
            store.beforeCursor = () -> {};
            change.run();
          }
        };
  }

  private int cursors() {
    return store.opened.values().stream().mapToInt(Integer::intValue).sum();
  }

  private Bytes schemaRow() {
    Bytes row = store.get(Space.META, StoreKeys.META_SCHEMA);
    return row == null ? Bytes.EMPTY : row;
  }

  /** Random changes, restarts, crashes in large entries, and states of older programs. */
  @Test
  void olderStatesAndPartialEntriesReadTheSame() {
    for (long seed = 1; seed <= 40; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      bounds = new EntryBounds(400, 5, 1 << 20);
      InMemoryOrderedStore expectedStore = new InMemoryOrderedStore();
      StateMachine expected = new StateMachine(expectedStore, 0);
      clear();
      open();
      for (int step = 0; step < 60; step++) {
        Operation next = next(random);
        expected.apply(expected.appliedIndex() + 1, 1, next);
        expected.commit();
        if (random.nextInt(4) == 0) {
          // Crashes in the entry, then perhaps while what is left of it is undone.
          for (int crashes = 0; crashes < 2 && crashes(next, random.nextInt(4)); crashes++) {
            open();
          }
        }
        if (machine.appliedIndex() < expected.appliedIndex()) {
          apply(next);
        }
        if (random.nextInt(15) == 0) {
          OldStates.withNewestTwice(store);
          open();
        }
        String name = "seed=" + seed + " step=" + step;
        assertThat(machine.digest()).as(name).isEqualTo(expected.digest());
        long at = 1 + random.nextLong(machine.currentRevision());
        RangeQuery query = RangeQuery.of(KeyRange.all(), at);
        assertThat(machine.reader().range(query))
            .as(name)
            .isEqualTo(expected.reader().range(query));
        assertThat(machine.reader().history(KeyRange.all(), at, 1000, 1 << 20, true))
            .as(name)
            .isEqualTo(expected.reader().history(KeyRange.all(), at, 1000, 1 << 20, true));
        KeyRange single = one("k" + random.nextInt(12));
        assertThat(machine.reader().history(single, at, 1000, 1 << 20, true))
            .as(name)
            .isEqualTo(expected.reader().history(single, at, 1000, 1 << 20, true));
        assertThat(machine.reader().hashNow(at)).as(name).isEqualTo(expected.reader().hashNow(at));
      }
      assertSound();
    }
  }

  private void clear() {
    machine.close();
    StoreBatch batch = new StoreBatch();
    for (Space space : Space.values()) {
      StoreRows.all(store, space).forEach(row -> batch.delete(space, row.key()));
    }
    store.write(batch);
  }

  /** Applies an entry; true if the store crashed before the entry was complete. */
  private boolean crashes(Operation next, int afterWrites) {
    crashing.crashAfter(afterWrites);
    try {
      apply(next);
      return false;
    } catch (CrashingStore.Crash crash) {
      return true;
    } finally {
      crashing.crashAfter(Long.MAX_VALUE);
    }
  }

  private static Operation next(SplittableRandom random) {
    String key = "k" + random.nextInt(12);
    return switch (random.nextInt(8)) {
      case 0 -> delete(KeyRange.all());
      case 1 -> delete(one(key));
      case 2 -> delete(new KeyRange(key("k1"), key(key)));
      default -> put(key, "v".repeat(random.nextInt(200)));
    };
  }

  @Test
  void olderProgramsRefuseTheState() {
    apply(put("a", "1"));
    assertThat(StoreKeys.getLong(schemaRow(), 0)).isEqualTo(11);
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, StoreKeys.META_SCHEMA, RowCodec.longs(7));
    store.write(batch);
    assertThatThrownBy(this::open).isInstanceOf(StoreException.class).hasMessageContaining("7");
  }
}
