package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InMemoryOrderedStoreTest {
  private static final int KEYS = 40;

  @Test
  void cursorsReadFrozenViewWithinBounds() {
    for (long seed = 1; seed <= 200; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      InMemoryOrderedStore store = new InMemoryOrderedStore();
      NavigableMap<Bytes, Bytes> map = new TreeMap<>();
      for (int i = 0; i < 60; i++) {
        change(store, map, random);
        check(store, map, random, "seed=" + seed);
      }
    }
  }

  private static Bytes key(SplittableRandom random) {
    return Bytes.of(random.nextInt(KEYS));
  }

  private static void change(
      OrderedStore store, NavigableMap<Bytes, Bytes> map, SplittableRandom random) {
    StoreBatch batch = new StoreBatch();
    Bytes key = key(random);
    if (random.nextInt(3) == 0) {
      batch.delete(Space.KEY, key);
      map.remove(key);
    } else {
      Bytes value = Bytes.of(random.nextInt(256));
      batch.put(Space.KEY, key, value);
      map.put(key, value);
    }
    store.write(batch);
  }

  private static void check(
      OrderedStore store, NavigableMap<Bytes, Bytes> map, SplittableRandom random, String name) {
    Bytes from = key(random);
    Bytes to = random.nextInt(3) == 0 ? null : key(random);
    boolean reverse = random.nextBoolean();
    NavigableMap<Bytes, Bytes> part = new TreeMap<>();
    map.forEach(
        (key, value) -> {
          if (key.compareTo(from) >= 0 && (to == null || key.compareTo(to) < 0)) {
            part.put(key, value);
          }
        });
    NavigableMap<Bytes, Bytes> view = reverse ? part.descendingMap() : part;
    try (Cursor cursor = store.cursor(Space.KEY, from, to, reverse)) {
      change(store, map, random);
      assertThat(rest(cursor, null)).as(name).isEqualTo(List.copyOf(view.keySet()));
      Bytes sought = key(random);
      assertThat(rest(cursor, sought))
          .as(name)
          .isEqualTo(List.copyOf(view.tailMap(sought, true).keySet()));
    }
  }

  private static List<Bytes> rest(Cursor cursor, @Nullable Bytes seek) {
    List<Bytes> keys = new ArrayList<>();
    boolean stands = seek == null ? cursor.next() : cursor.seek(seek);
    while (stands) {
      keys.add(cursor.key());
      stands = cursor.next();
    }
    return keys;
  }

  @Test
  void copyIsIndependent() {
    InMemoryOrderedStore store = new InMemoryOrderedStore();
    StoreBatch batch = new StoreBatch();
    batch.put(Space.META, Bytes.of(1), Bytes.of(2));
    store.write(batch);
    InMemoryOrderedStore copy = store.copy();
    batch.delete(Space.META, Bytes.of(1));
    store.write(batch);
    assertThat(store.get(Space.META, Bytes.of(1))).isNull();
    assertThat(store.sizeOnDisk()).isZero();
    assertThat(copy.get(Space.META, Bytes.of(1))).isEqualTo(Bytes.of(2));
    assertThat(copy.sizeInUse()).isEqualTo(2);
  }
}
