package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Result;
import io.troupe.mvcc.CountBounds;
import io.troupe.mvcc.KeyCounting;
import io.troupe.mvcc.OldStates;
import io.troupe.mvcc.StoreCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts of live keys in table files, and states of programs without them. */
class CountedStateTest {
  private static final int KEYS = 70_000;
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 2, 64, 0);

  private final Path directory;

  CountedStateTest(@TempDir Path temp) {
    this.directory = temp.resolve("state");
  }

  private static Bytes key(int number) {
    return Bytes.utf8("key%06d".formatted(number));
  }

  private static long count(StateMachine machine, KeyRange range) {
    return ((Result.Range) machine.reader().count(range, 0)).range().count();
  }

  @ParameterizedTest
  @ValueSource(longs = {3, 4, 6})
  void stateWithoutCountsIsCountedAtItsFirstStart(long schema) {
    try (RocksStore store = RocksStore.open(directory, SMALL);
        StateMachine machine = new StateMachine(store, 1 << 20)) {
      for (int i = 1; i <= KEYS; i++) {
        machine.apply(i, 1, new Operation.Put(key(i), Bytes.EMPTY, 0, false, false, false));
        if (i % 1000 == 0) {
          machine.commit();
        }
      }
      OldStates.withoutCounts(store);
      OldStates.schema(store, schema);
    }
    List<Long> reports = new ArrayList<>();
    try (RocksStore store = RocksStore.open(directory, SMALL)) {
      assertThat(KeyCounting.isNeeded(store)).isTrue();
      KeyCounting.runIfNeeded(store, CountBounds.ofHeap(), reports::add);
    }
    assertThat(reports).containsExactly(65_536L);
    try (RocksStore store = RocksStore.open(directory, SMALL)) {
      assertThat(KeyCounting.isNeeded(store)).as("second start").isFalse();
      List<String> problems = new ArrayList<>();
      StoreCheck.run(store, problems::add);
      assertThat(problems).isEmpty();
      try (StateMachine machine = new StateMachine(store, 1 << 20)) {
        assertThat(machine.reader().keys()).isEqualTo(KEYS);
        machine.apply(KEYS + 1, 1, new Operation.DeleteRange(KeyRange.single(key(500)), false));
        machine.commit();
        assertThat(count(machine, new KeyRange(key(11), key(60_011)))).isEqualTo(59_999);
      }
    }
    try (RocksStore store = RocksStore.open(directory, SMALL);
        StateMachine machine = new StateMachine(store, 1 << 20)) {
      assertThat(machine.reader().keys()).isEqualTo(KEYS - 1);
    }
  }
}
