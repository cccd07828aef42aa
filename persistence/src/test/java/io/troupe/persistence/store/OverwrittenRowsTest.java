package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Overwritten rows of a small space soon stop slowing down walks over it. */
class OverwrittenRowsTest {
  private static final int ROWS = 5_000;
  private static final int ROW_BYTES = 200;
  private static final long MIB = 1 << 20;

  private final Path temp;
  private final RocksStore store;
  private final Random random = new Random(7);

  OverwrittenRowsTest(@TempDir Path temp) {
    this.temp = temp;
    store = RocksStore.open(temp.resolve("s"), new RocksSettings(8 << 20, 4 << 20, 2, 64, 0));
  }

  @AfterEach
  void close() {
    store.close();
  }

  private void writeAll() {
    StoreBatch batch = new StoreBatch();
    for (int i = 0; i < ROWS; i++) {
      byte[] value = new byte[ROW_BYTES];
      random.nextBytes(value);
      batch.put(Space.LATEST, DeletedStretchesTest.row(i), Bytes.wrap(value));
    }
    store.write(batch);
  }

  private int rows() {
    int rows = 0;
    try (Cursor cursor = store.cursor(Space.LATEST, Bytes.EMPTY, null, false)) {
      while (cursor.next()) {
        rows++;
      }
    }
    return rows;
  }

  @Test
  void flushedFilesOfSmallSpaceAreMerged() {
    long once = (long) ROWS * ROW_BYTES;
    for (int round = 0; round < 3; round++) {
      writeAll();
      store.checkpoint(temp.resolve("c" + round));
    }
    await("one version of each row is on disk")
        .atMost(Duration.ofMinutes(1))
        .until(() -> store.property("rocksdb.live-sst-files-size") < once * 3 / 2);
    assertThat(rows()).isEqualTo(ROWS);
  }

  @Test
  void onlySmallSpacesAreMergedAfterEachFlush() {
    assertThat(MergeTrigger.files(16 * MIB, 4)).isEqualTo(1);
    assertThat(MergeTrigger.files(17 * MIB, 1)).as("stays at once").isEqualTo(1);
    assertThat(MergeTrigger.files(33 * MIB, 1)).isEqualTo(4);
    assertThat(MergeTrigger.files(32 * MIB, 4)).as("stays with others").isEqualTo(4);
  }
}
