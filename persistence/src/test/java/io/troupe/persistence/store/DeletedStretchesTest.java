package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deleted neighboring rows soon stop slowing down walks over them. */
class DeletedStretchesTest {
  private static final int ROWS = 60_000;
  private static final Bytes VALUE = Bytes.wrap(new byte[100]);

  private final RocksStore store;

  DeletedStretchesTest(@TempDir Path temp) {
    store = RocksStore.open(temp.resolve("s"), new RocksSettings(64 << 20, 256 << 20, 2, 64, 0));
  }

  @AfterEach
  void close() {
    store.close();
  }

  static Bytes row(int number) {
    return Bytes.wrap(
        String.format(Locale.ROOT, "%08d", number).getBytes(StandardCharsets.US_ASCII));
  }

  private void writeAll(boolean delete) {
    for (int i = 0; i < ROWS; i += 1000) {
      StoreBatch batch = new StoreBatch();
      for (int j = i; j < i + 1000; j++) {
        if (delete) {
          batch.delete(Space.LATEST, row(j));
        } else {
          batch.put(Space.LATEST, row(j), VALUE);
        }
      }
      store.write(batch);
    }
  }

  private boolean isEmpty() {
    try (Cursor cursor = store.cursor(Space.LATEST, Bytes.EMPTY, null, false)) {
      return !cursor.next();
    }
  }

  private static void await(String what, BooleanSupplier done) {
    long end = System.nanoTime() + Duration.ofSeconds(60).toNanos();
    while (!done.getAsBoolean()) {
      assertThat(System.nanoTime() - end).as(what).isNegative();
      Thread.onSpinWait();
    }
  }

  @Test
  void filesWithMostlyTombstonesAreCompactedAutomatically() {
    writeAll(false);
    store.flush();
    long before = store.property("rocksdb.live-sst-files-size");
    writeAll(true);
    store.flush();
    await(
        "all rows and their marks are gone",
        () -> store.property("rocksdb.live-sst-files-size") < before / 20);
    assertThat(isEmpty()).isTrue();
  }

  @Test
  void tombstonesDoNotStayInWriteBuffers() {
    writeAll(false);
    store.flush();
    writeAll(true);
    await(
        "all rows and most of their marks are gone",
        () -> store.property("rocksdb.live-sst-files-size") < 100_000);
    assertThat(store.property("rocksdb.num-deletes-active-mem-table")).isLessThan(50_000);
    assertThat(isEmpty()).isTrue();
  }
}
