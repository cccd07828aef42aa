package io.troupe.mvcc;

import static io.troupe.mvcc.Fixture.delete;
import static io.troupe.mvcc.Fixture.one;
import static io.troupe.mvcc.Fixture.put;
import static io.troupe.mvcc.Fixture.span;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.model.Operation;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** MT7: the hash of the history, in windows of any size. */
class KvHashTest {
  private static final List<String> KEYS =
      List.of("a", "a\0", "a\0b", "ab", "b", "b\0\0", "c", "ca", "cb", "d", "d".repeat(700));

  private CountingStore store = new CountingStore();
  private Fixture fixture = new Fixture(store);

  private int inWindows(long compacted, long at, int windowChanges) {
    try (Cursor changes =
            store.cursor(Space.REV, Bytes.EMPTY, StoreKeys.revision(at + 1, 0), false);
        VersionCursor rows = VersionCursor.open(store, Bytes.EMPTY, null)) {
      return new KvHash(changes, rows, compacted, at, new HashWindow(windowChanges)).compute();
    }
  }

  private int oneByOne(long compacted, long at) {
    try (Cursor changes =
            store.cursor(Space.REV, Bytes.EMPTY, StoreKeys.revision(at + 1, 0), false);
        VersionCursor rows = VersionCursor.open(store, Bytes.EMPTY, null)) {
      return new OneByOneHash(changes, rows, compacted, at).compute();
    }
  }

  private long revision() {
    return fixture.machine.currentRevision();
  }

  private static Operation change(SplittableRandom random) {
    String key = KEYS.get(random.nextInt(KEYS.size()));
    return switch (random.nextInt(8)) {
      case 0, 1 -> delete(one(key));
      case 2 -> delete(span(key, "cb"));
      case 3 -> put(key, "");
      case 4 -> put(key, "v".repeat(random.nextInt(1, 9000)));
      default -> put(key, "v".repeat(random.nextInt(1, 300)));
    };
  }

  @Test
  void windowsHashWhatOneByOneHashes_MT7() {
    for (long seed = 1; seed <= 150; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      store = new CountingStore();
      fixture = new Fixture(store);
      for (int round = 0; round < 5; round++) {
        for (int i = random.nextInt(1, 25); i > 0; i--) {
          fixture.apply(change(random));
        }
        if (random.nextInt(4) == 0) {
          fixture.apply(delete(span("a", "z")));
        }
        long compacted = Math.max(1, fixture.machine.reader().view().compactedRevision());
        if (random.nextBoolean() && revision() > compacted) {
          fixture.apply(new Operation.Compact(random.nextLong(compacted + 1, revision() + 1)));
          for (int i = random.nextInt(4); i > 0; i--) {
            fixture.machine.compactor().removeBatch(1 + random.nextInt(5));
          }
        }
        compareAll(seed, random);
      }
    }
  }

  private void compareAll(long seed, SplittableRandom random) {
    long compacted = fixture.machine.reader().view().compactedRevision();
    for (long at = Math.max(1, compacted); at <= revision(); at++) {
      int expected = oneByOne(compacted, at);
      for (int window : new int[] {1, random.nextInt(2, 12), Integer.MAX_VALUE}) {
        assertThat(inWindows(compacted, at, window))
            .as("seed=%d at=%d compacted=%d window=%d", seed, at, compacted, window)
            .isEqualTo(expected);
      }
      assertThat(fixture.machine.reader().hashNow(at))
          .as("seed=%d, with the window of the hash before", seed)
          .isEqualTo(new HashResult.Hash(expected, compacted, at, revision()));
    }
  }

  @Test
  void nextHashUsesTheWindowOfTheLastOne() {
    HashWindows windows = new HashWindows();
    HashWindow first = windows.take();
    HashWindow atTheSameTime = windows.take();
    assertThat(atTheSameTime).isNotSameAs(first);
    first.add(7, 0);
    first.expect(Bytes.utf8("k"));

    windows.giveBack(first);

    assertThat(windows.take()).isSameAs(first);
    assertThat(first.size()).isZero();
    assertThat(first.leastKey()).isNull();
    assertThat(windows.take()).as("each has one owner").isNotSameAs(first);
  }

  /** Steps that a hash of the current revision takes. */
  private long steps(int windowChanges) {
    store.steps = 0;
    store.seeks = 0;
    inWindows(-1, revision(), windowChanges);
    return store.steps;
  }

  private void fill(int changes, LongFunction<String> key) {
    for (int i = 0; i < changes; i++) {
      fixture.apply(put(key.apply(i), "v" + i));
    }
  }

  @Test
  void changesOfKeysInAnyOrderAreWalkedWithoutSeeks() {
    SplittableRandom random = new SplittableRandom(7);
    fill(4000, i -> "key" + random.nextInt(1_000_000));
    // The changes once, and the rows once for each window.
    assertThat(steps(4000)).isLessThan(2 * 4000 + 20);
    assertThat(store.seeks).isLessThan(5);
    assertThat(steps(1000)).isLessThan(5 * 4000 + 40);
    assertThat(store.seeks).isLessThan(10);
  }

  /** Otherwise the cost would grow with the square of the history. */
  @Test
  void windowWithFewOfManyKeysUsesSeeks() {
    SplittableRandom random = new SplittableRandom(8);
    fill(4000, i -> "key" + random.nextInt(1_000_000));
    int expected = oneByOne(-1, revision());
    assertThat(steps(10)).isLessThan(4000L * (8 + 2 + 1 + 2));
    assertThat(store.seeks).isBetween(3000L, 4000L + 2 * 400);
    for (int window : new int[] {1, 3, 10, 77}) {
      assertThat(inWindows(-1, revision(), window)).as("window=%d", window).isEqualTo(expected);
    }
  }

  @Test
  void windowWalksOverChangedKeysOnly() {
    fill(4000, i -> String.format("key%08d", i));
    assertThat(steps(100)).isLessThan(2 * 4000 + 40 * 5);
  }

  @Test
  void windowSkipsVersionsOutsideOfIt() {
    fill(4000, i -> "key" + i % 2);
    assertThat(steps(100)).isLessThan(2 * 4000 + 40 * 2 * 16);
  }

  @Test
  void changeWithoutRowIsDamage() {
    fill(9, i -> "key" + i);
    StoreBatch batch = new StoreBatch();
    batch.delete(Space.LATEST, Bytes.utf8("key4"));
    store.write(batch);
    assertThatThrownBy(() -> inWindows(-1, revision(), 4))
        .isInstanceOf(StoreException.class)
        .hasMessage("no row for a change of revision 6");
  }

  @Test
  void joinedChecksumEqualsChecksumOfAllBytes() {
    SplittableRandom random = new SplittableRandom(3);
    byte[] bytes = new byte[1 << 20];
    random.nextBytes(bytes);
    for (int i = 0; i < 200; i++) {
      int length = random.nextInt(1 << random.nextInt(21));
      int middle = random.nextInt(length + 1);
      assertThat(
              Crc32cJoin.join(sum(bytes, 0, middle), sum(bytes, middle, length), length - middle))
          .as("middle=%d length=%d", middle, length)
          .isEqualTo(sum(bytes, 0, length));
    }
  }

  private static int sum(byte[] bytes, int from, int to) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, to - from);
    return (int) crc.getValue();
  }

  @Test
  void windowEndsBeforeRevisionsThatAreTooFarApart() {
    HashWindow window = new HashWindow(3);
    assertThat(window.hasPlaceFor(5)).isTrue();
    window.add(5, 0);
    assertThat(window.hasPlaceFor(5L + Integer.MAX_VALUE)).isTrue();
    assertThat(window.hasPlaceFor(6L + Integer.MAX_VALUE)).isFalse();
    window.add(5L + Integer.MAX_VALUE, 2);
    assertThat(window.findUnknown(5L + Integer.MAX_VALUE, 2)).isEqualTo(1);
    assertThat(window.findUnknown(5L + Integer.MAX_VALUE, 1)).isEqualTo(-1);
    window.add(5L + Integer.MAX_VALUE, 3);
    assertThat(window.hasPlaceFor(5L + Integer.MAX_VALUE)).isFalse();
    window.clear();
    assertThat(window.hasPlaceFor(1L << 60)).isTrue();
    window.add(1L << 60, 0);
    assertThat(window.lastRevision()).isEqualTo(1L << 60);
  }
}
