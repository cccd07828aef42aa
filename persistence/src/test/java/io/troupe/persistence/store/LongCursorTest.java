package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cursor for a long walk returns the same rows, and leaves the block cache to other reads. */
class LongCursorTest {
  private static final RocksSettings SETTINGS = new RocksSettings(64 << 20, 4 << 20, 2, 64, 0);
  private static final int ROWS = 4000;

  private final Path directory;

  LongCursorTest(@TempDir Path temp) {
    directory = temp.resolve("s");
    SplittableRandom random = new SplittableRandom(1);
    try (RocksStore store = RocksStore.open(directory, SETTINGS)) {
      StoreBatch batch = new StoreBatch();
      for (int i = 0; i < ROWS; i++) {
        byte[] value = new byte[1024];
        random.nextBytes(value);
        batch.put(Space.KEY, key(i), Bytes.wrap(value));
      }
      store.write(batch);
    }
  }

  private static Bytes key(int i) {
    return Bytes.utf8(String.format("k%05d", i));
  }

  private static long cached(RocksStore store) {
    return store.property("rocksdb.block-cache-usage");
  }

  private static List<Bytes> rows(Cursor opened) {
    List<Bytes> rows = new ArrayList<>();
    try (Cursor cursor = opened) {
      while (cursor.next()) {
        rows.add(cursor.key());
        rows.add(cursor.value());
      }
    }
    return rows;
  }

  @Test
  void returnsTheRowsOfAnOrdinaryCursor() {
    try (RocksStore store = RocksStore.open(directory, SETTINGS)) {
      for (@Nullable Bytes end : new @Nullable Bytes[] {null, key(3000), Bytes.EMPTY}) {
        assertThat(rows(store.longCursor(Space.KEY, key(7), end)))
            .isEqualTo(rows(store.cursor(Space.KEY, key(7), end, false)));
      }
      assertThat(rows(store.longCursor(Space.KEY, key(7), key(9)))).hasSize(4);
    }
  }

  @Test
  void doesNotFillTheBlockCache() {
    try (RocksStore store = RocksStore.open(directory, SETTINGS)) {
      long empty = cached(store);
      assertThat(rows(store.longCursor(Space.KEY, Bytes.EMPTY, null))).hasSize(2 * ROWS);
      assertThat(rows(store.longCursor(Space.KEY, Bytes.EMPTY, key(ROWS)))).hasSize(2 * ROWS);
      // Index blocks are cached, rows are not.
      assertThat(cached(store) - empty).isLessThan(ROWS * 1024L / 4);
      assertThat(rows(store.cursor(Space.KEY, Bytes.EMPTY, null, false))).hasSize(2 * ROWS);
      assertThat(cached(store) - empty).isGreaterThan(ROWS * 1024L);
    }
  }

  @Test
  void rowsAreCopiedIntoArraysOfTheCaller() {
    try (RocksStore store = RocksStore.open(directory, SETTINGS);
        Cursor cursor = store.longCursor(Space.KEY, key(7), null)) {
      byte[] target = new byte[2000];
      assertThatThrownBy(() -> cursor.keyTo(target)).isInstanceOf(IllegalStateException.class);
      for (int i = 7; i < 20; i++) {
        assertThat(cursor.next()).isTrue();
        assertThat(Bytes.wrap(target.clone(), 0, cursor.keyTo(target)).length()).isEqualTo(6);
        assertThat(Bytes.wrap(target.clone(), 0, 6)).isEqualTo(key(i)).isEqualTo(cursor.key());
        assertThat(cursor.valueTo(target)).isEqualTo(1024);
        assertThat(Bytes.wrap(target.clone(), 0, 1024)).isEqualTo(cursor.value());
      }
      byte[] small = new byte[3];
      assertThat(cursor.keyTo(small)).isEqualTo(6);
      assertThat(cursor.valueTo(small)).isEqualTo(1024);
      assertThat(Bytes.wrap(small)).isEqualTo(cursor.value().slice(0, 3));
    }
  }

  @Test
  void isFrozenAndEndsWithTheStore() {
    RocksStore store = RocksStore.open(directory, SETTINGS);
    try (Cursor cursor = store.longCursor(Space.KEY, Bytes.EMPTY, null)) {
      StoreBatch deletes = new StoreBatch();
      deletes.delete(Space.KEY, key(0));
      store.write(deletes);
      assertThat(cursor.next()).isTrue();
      assertThat(cursor.key()).isEqualTo(key(0));
    }
    store.close();
    assertThatThrownBy(() -> store.longCursor(Space.KEY, Bytes.EMPTY, null))
        .isInstanceOf(StoreException.class);
  }
}
