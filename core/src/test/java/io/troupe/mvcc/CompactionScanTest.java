package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** C2: what a compaction removes, by a scan over all versions, by a walk over changes, or both. */
class CompactionScanTest {
  private static final int KEYS = 40;

  private CountingStore store = new CountingStore();
  private Fixture fixture = new Fixture(store);

  private static Operation change(SplittableRandom random, int keys) {
    String key = String.format("k%03d", random.nextInt(keys));
    return switch (random.nextInt(8)) {
      case 0 -> delete(one(key));
      case 1 -> delete(span(key, key + "x"));
      default -> put(key, "v");
    };
  }

  private List<Bytes> rows() {
    List<Bytes> rows = new ArrayList<>();
    try (VersionCursor versions = VersionCursor.open(store, Bytes.EMPTY, null)) {
      while (versions.next()) {
        rows.add(versions.key());
      }
    }
    return rows;
  }

  private List<Bytes> keys(Space space) {
    return StoreRows.all(store, space).stream().map(StoreBatch.Change::key).toList();
  }

  /** The rows that C2 keeps, by the rule itself. */
  private static List<Bytes> kept(List<Bytes> rows, long target) {
    List<Bytes> kept = new ArrayList<>();
    Bytes visible = null;
    for (Bytes row : rows) {
      long main = StoreKeys.main(row);
      boolean isVisible = main <= target && (visible == null || !StoreKeys.sameKey(visible, row));
      if (isVisible) {
        visible = row;
      }
      if (main >= target || (isVisible && !StoreKeys.isTombstone(row))) {
        kept.add(row);
      }
    }
    return kept;
  }

  private static List<Bytes> changes(List<Bytes> rows) {
    return rows.stream()
        .map(row -> StoreKeys.revision(StoreKeys.main(row), StoreKeys.sub(row)))
        .sorted()
        .toList();
  }

  private int walks() {
    return store.opened.getOrDefault(Space.REV, 0);
  }

  private boolean removeAll(SplittableRandom random) {
    int before = walks();
    boolean done = false;
    while (!done) {
      int batches = random.nextInt(4);
      int[] written = {0};
      done =
          fixture
              .machine
              .compactor()
              .remove(1 + random.nextInt(6), removed -> written[0]++ < batches)
              .done();
    }
    return walks() > before;
  }

  @Test
  void removesExactlyTheObsoleteVersions_C2() {
    int scans = 0;
    int walks = 0;
    for (long seed = 1; seed <= 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      store = new CountingStore();
      fixture = new Fixture(store);
      for (int round = 0; round < 4; round++) {
        int keys = 1 + random.nextInt(KEYS);
        for (int i = random.nextInt(1, 40); i > 0; i--) {
          fixture.apply(change(random, keys));
        }
        long compacted = Math.max(1, fixture.machine.reader().view().compactedRevision());
        long revision = fixture.machine.currentRevision();
        if (revision == compacted) {
          continue;
        }
        long target = random.nextLong(compacted + 1, revision + 1);
        List<Bytes> expected = kept(rows(), target);
        fixture.apply(new Operation.Compact(target));
        if (removeAll(random)) {
          walks++;
        } else {
          scans++;
        }
        assertThat(rows()).as("seed=%d target=%d", seed, target).isEqualTo(expected);
        assertThat(keys(Space.REV)).as("seed=%d", seed).isEqualTo(changes(expected));
      }
    }
    assertThat(scans).isGreaterThan(100);
    assertThat(walks).isGreaterThan(20);
  }

  private void compactAll() {
    fixture.apply(new Operation.Compact(fixture.machine.currentRevision()));
  }

  private Compactor.Progress remove() {
    Compactor.Progress progress;
    do {
      progress = fixture.machine.compactor().remove(100, removed -> true);
    } while (!progress.done());
    return progress;
  }

  @Test
  void changesOfKeysInAnyOrderNeedNoSeek() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < 5000; i++) {
      fixture.apply(put("k" + random.nextInt(3000), "v"));
    }
    compactAll();
    store.steps = 0;
    store.seeks = 0;
    remove();
    assertThat(store.seeks).isZero();
    assertThat(store.steps).isLessThan(5000 + 10);
    assertThat(rows()).isEqualTo(kept(rows(), fixture.machine.currentRevision()));
  }

  @Test
  void manyVersionsAboveTheCompactedRevisionAreSkipped() {
    for (int i = 0; i < 4000; i++) {
      fixture.apply(put("k" + i % 2, "v"));
    }
    fixture.apply(new Operation.Compact(1000));
    store.steps = 0;
    remove();
    assertThat(store.steps).isLessThan(1000 + 2 * 10);
  }

  /** The scan passes eight versions for each revision, then the walk begins where it gave up. */
  @Test
  void fewChangesOfManyKeysAreWalked() {
    for (int i = 0; i < 3000; i++) {
      fixture.apply(put(String.format("k%05d", i), "v"));
    }
    compactAll();
    remove();
    for (int i = 0; i < 100; i++) {
      fixture.apply(put(String.format("k%05d", 30 * i), "w"));
    }
    compactAll();
    store.steps = 0;
    store.seeks = 0;
    int before = walks();
    remove();
    assertThat(walks()).isEqualTo(before + 1);
    assertThat(store.seeks).as("26 of 100 keys are scanned").isBetween(140L, 160L);
    assertThat(store.steps).isLessThan(8 * 100 + 7 * 100);
    assertThat(rows()).hasSize(3000);
    assertThat(keys(Space.REV)).hasSize(3000);
  }
}
