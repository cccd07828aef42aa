package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.StateMachine;
import io.troupe.model.Bytes;
import io.troupe.model.KeyRange;
import io.troupe.model.Operation;
import io.troupe.model.Operation.TxnOp;
import io.troupe.model.RangeQuery;
import io.troupe.model.RangeQuery.SortOrder;
import io.troupe.model.RangeQuery.SortTarget;
import io.troupe.model.RangeResult;
import io.troupe.model.Result;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Steps of reads and memory of blocks, which must not depend on the number of keys. */
class CountCostTest {
  private static final int KEYS = 12_000;
  private static final int BLOCK_KEYS = 64;

  private final CountingStore store = new CountingStore();
  private StateMachine machine = opened(1 << 20);

  private StateMachine opened(long blockBytes) {
    return new StateMachine(store, 0, EntryBounds.DEFAULT, new CountBounds(BLOCK_KEYS, blockBytes));
  }

  private static Bytes key(int number) {
    return Bytes.utf8("key-%08d".formatted(number));
  }

  private void apply(List<TxnOp> ops) {
    machine.apply(machine.appliedIndex() + 1, 1, new Operation.Txn(List.of(), ops, List.of()));
    machine.commit();
  }

  private void fill(String prefix) {
    for (int i = 0; i < KEYS; i += 20) {
      List<TxnOp> ops = new ArrayList<>();
      for (int j = 0; j < 20; j++) {
        // In no order.
        Bytes key = Bytes.utf8(prefix).concat(key((int) ((i + j) * 7919L % KEYS)));
        ops.add(new Operation.Put(key, Bytes.EMPTY, 0, false, false, false));
      }
      apply(ops);
    }
  }

  private RangeResult read(KeyRange range, long limit, long revision, SortOrder order) {
    RangeQuery query =
        new RangeQuery(
            range, limit, revision, order, SortTarget.KEY, false, limit == 0, 0, 0, 0, 0);
    store.steps = 0;
    return ((Result.Range) machine.reader().range(query)).range();
  }

  @Test
  void stepsDependOnBlocksAndLimitAlone_G4() {
    fill("");
    KeyRange most = new KeyRange(key(1003), key(KEYS - 1001));
    long count = KEYS - 1001 - 1003;
    long newest = machine.currentRevision();
    assertThat(read(most, 0, 0, SortOrder.NONE).count()).isEqualTo(count);
    assertThat(store.steps).isLessThan(5 * BLOCK_KEYS);
    assertThat(read(KeyRange.all(), 0, 0, SortOrder.NONE).count()).isEqualTo(KEYS);
    assertThat(store.steps).isLessThan(3);
    KeyRange other = new KeyRange(key(1004), key(KEYS - 1001));
    assertThat(read(other, 100, 0, SortOrder.NONE).count()).isEqualTo(count - 1);
    assertThat(store.steps).isLessThan(100 + 5 * BLOCK_KEYS);
    RangeResult last = read(new KeyRange(key(1005), key(KEYS - 1001)), 100, 0, SortOrder.DESCEND);
    assertThat(last.count()).isEqualTo(count - 2);
    assertThat(last.kvs().get(99).key()).isEqualTo(key(KEYS - 1101));
    assertThat(store.steps).isLessThan(2 * 100 + 8 * BLOCK_KEYS);

    // At an old revision: with the counts of a revision nearby, however many changes follow.
    for (int i = 0; i < 5000; i += 2) {
      apply(List.of(new Operation.DeleteRange(KeyRange.single(key(i + 5000)), false)));
    }
    assertThat(read(most, 0, newest, SortOrder.NONE).count()).isEqualTo(count);
    assertThat(store.steps).isLessThan(8 * BLOCK_KEYS + 8 * BLOCK_KEYS / 2 + 10);
    assertThat(read(most, 0, 0, SortOrder.NONE).count()).isEqualTo(count - 2500);
    // Without them, with the changes since then.
    machine = opened(1 << 20);
    assertThat(read(most, 0, newest, SortOrder.NONE).count()).isEqualTo(count);
    assertThat(store.steps).isBetween(2500L, 2500L + 5 * BLOCK_KEYS);
    // A walk over few keys is cheaper than one over many changes.
    KeyRange few = new KeyRange(key(2), key(202));
    assertThat(read(few, 0, newest, SortOrder.NONE).count()).isEqualTo(200);
    assertThat(store.steps).isLessThan(200 + 5 * BLOCK_KEYS);
  }

  /** The counts of earlier revisions are as far apart as their changes, not their revisions. */
  @Test
  void stepsAtOldRevisionDoNotDependOnSizeOfTransactions_G4() {
    long first = machine.currentRevision();
    fill("");
    long newest = machine.currentRevision();
    for (long revision = first + 1; revision < newest; revision += 37) {
      assertThat(read(KeyRange.all(), 0, revision, SortOrder.NONE).count())
          .isEqualTo(20 * (revision - first));
      assertThat(store.steps).as("revision %d", revision).isLessThan(8 * BLOCK_KEYS + 40);
    }
  }

  /** A count does not walk over keys that were added later, behind all others. */
  @Test
  void stepsAtOldRevisionDoNotDependOnLaterKeysBehindOthers_G4() {
    long first = machine.currentRevision();
    for (int i = 0; i < KEYS; i += 20) {
      List<TxnOp> ops = new ArrayList<>();
      for (int j = 0; j < 20; j++) {
        ops.add(new Operation.Put(key(i + j), Bytes.EMPTY, 0, false, false, false));
      }
      apply(ops);
    }
    long newest = machine.currentRevision();
    KeyRange range = new KeyRange(key(1), key(KEYS));
    for (long revision = first + 13; revision < newest; revision += 37) {
      long count = 20 * (revision - first) - 1;
      assertThat(read(range, 0, revision, SortOrder.NONE).count()).isEqualTo(count);
      assertThat(store.steps).as("revision %d", revision).isLessThan(12 * BLOCK_KEYS + 40);
    }
  }

  /** Earlier blocks are larger if there are very many keys, so that they are not far apart. */
  @Test
  void stepsAtOldRevisionAreFewAlsoIfMemoryIsShort_G4() {
    long bytes = 32 << 10;
    machine = opened(2 * bytes);
    long first = machine.currentRevision();
    for (String prefix : List.of("a", "b", "c", "d")) {
      fill(prefix);
    }
    long newest = machine.currentRevision();
    assertThat(machine.reader().countedBlocks().bytes()).isLessThan(2 * bytes);
    for (long revision = first + 1; revision < newest; revision += 37) {
      assertThat(read(KeyRange.all(), 0, revision, SortOrder.NONE).count())
          .isEqualTo(20 * (revision - first));
      // All blocks of 64 keys would be 16,384 changes apart.
      assertThat(store.steps).as("revision %d", revision).isLessThan(4096 / 2 + 40);
    }
  }

  /** The memory is bounded: blocks become larger, and smaller when the keys are deleted. */
  @Test
  void blocksBecomeLargerWhenMemoryIsShort() {
    long bytes = 1000;
    machine = opened(2 * bytes);
    fill("");
    long full = machine.reader().countedBlocks().blocks();
    assertThat(full).isBetween(10L, (long) KEYS / BLOCK_KEYS / 2);
    // The part for earlier counts included; a chunk that is full may be above the limit.
    assertThat(machine.reader().countedBlocks().bytes()).isLessThan(2 * bytes + 2000);
    KeyRange most = new KeyRange(key(1003), key(KEYS - 1001));
    assertThat(read(most, 0, 0, SortOrder.NONE).count()).isEqualTo(KEYS - 1001 - 1003);
    apply(List.of(new Operation.DeleteRange(new KeyRange(key(40), key(KEYS)), false)));
    assertThat(machine.reader().countedBlocks().blocks()).isLessThan(full / 3);
    assertThat(read(KeyRange.all(), 0, 0, SortOrder.NONE).count()).isEqualTo(40);
    List<String> problems = new ArrayList<>();
    StoreCheck.run(store, problems::add);
    assertThat(problems).isEmpty();
  }

  /** The start of a block is short, whatever the length of the keys. */
  @Test
  void longKeysAreNotSplitWhereNoShortStartSeparatesThem() {
    fill("x".repeat(KeyBlocks.MOST_START_BYTES));
    assertThat(machine.reader().countedBlocks().blocks()).isEqualTo(1);
    store.steps = 0;
    for (int i = 0; i < 200; i++) {
      apply(
          List.of(
              new Operation.Put(
                  Bytes.utf8("x".repeat(300) + i), Bytes.EMPTY, 0, false, false, false)));
    }
    // No walk over the block for each new key.
    assertThat(store.steps).isLessThan(200 * 10);
    assertThat(read(KeyRange.all(), 0, 0, SortOrder.NONE).count()).isEqualTo(KEYS + 200);
    fill("x".repeat(KeyBlocks.MOST_START_BYTES - 20));
    assertThat(machine.reader().countedBlocks().blocks()).isGreaterThan(KEYS / 4 / BLOCK_KEYS);
  }

  @Test
  void startOfBlockIsShortestSeparator() {
    assertThat(KeyBlocks.separator(Bytes.utf8("abc"), Bytes.utf8("abxyz")))
        .isEqualTo(Bytes.utf8("abx"));
    assertThat(KeyBlocks.separator(Bytes.utf8("ab"), Bytes.of('a', 'b', 0, 0)))
        .isEqualTo(Bytes.of('a', 'b', 0));
    Bytes same = Bytes.utf8("x".repeat(KeyBlocks.MOST_START_BYTES - 1));
    assertThat(KeyBlocks.separator(same, same.concat(Bytes.utf8("yz"))))
        .isEqualTo(same.concat(Bytes.utf8("y")));
    assertThat(KeyBlocks.separator(same.concat(Bytes.utf8("y")), same.concat(Bytes.utf8("yz"))))
        .isNull();
  }
}
