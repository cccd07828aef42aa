package io.troupe.persistence.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import io.troupe.testing.NeedsRoot;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

class RocksStoreTest {
  static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 2, 64, 0);

  private final Path temp;

  RocksStoreTest(@TempDir Path temp) {
    this.temp = temp;
  }

  @Test
  void keepsWritesAcrossCleanClose() {
    try (RocksStore store = RocksStore.open(temp.resolve("s"), SMALL)) {
      store.write(batch(1, 100));
    }
    try (RocksStore store = RocksStore.open(temp.resolve("s"), SMALL)) {
      assertThat(applied(store)).isEqualTo(100);
      assertThat(store.get(Space.KEY, number(100))).isEqualTo(value(100));
    }
  }

  @Test
  void checkpointDuringWritesContainsWholeBatchesOfAllSpaces() throws Exception {
    Path target = temp.resolve("checkpoint");
    AtomicBoolean stop = new AtomicBoolean();
    try (RocksStore store = RocksStore.open(temp.resolve("s"), SMALL)) {
      store.write(batch(1, 1));
      CompletableFuture<Void> writer =
          CompletableFuture.runAsync(
              () -> {
                for (long i = 2; !stop.get(); i += 10) {
                  store.write(batch(i, i + 9));
                }
              });
      CompletableFuture<Void> other =
          CompletableFuture.runAsync(
              () -> {
                for (long i = 1; !stop.get(); i++) {
                  StoreBatch deletes = new StoreBatch();
                  deletes.delete(Space.LEASE, number(i % 1000));
                  deletes.put(Space.LEASE, number(i % 977), value(i));
                  store.write(deletes);
                }
              });
      for (int round = 0; round < 5; round++) {
        Path made = target.resolveSibling("checkpoint" + round);
        long before = applied(store);
        store.checkpoint(made);
        long after = applied(store);
        try (RocksStore copy = RocksStore.openReadOnly(made, SMALL)) {
          long at = applied(copy);
          assertThat(at).isBetween(before, after);
          assertThat(count(copy, Space.KEY)).isEqualTo(at);
          assertThat(count(copy, Space.REV)).isEqualTo(at);
          assertThatThrownBy(() -> copy.write(batch(1, 1))).isInstanceOf(StoreException.class);
        }
      }
      stop.set(true);
      writer.join();
      other.join();
    }
    // A checkpoint is a store of its own.
    try (RocksStore copy = RocksStore.open(temp.resolve("checkpoint0"), SMALL)) {
      copy.write(batch(1, 5));
    }
  }

  @Test
  void cursorStaysFrozenDuringWrites() {
    try (RocksStore store = RocksStore.open(temp.resolve("s"), SMALL)) {
      store.write(batch(1, 50));
      try (Cursor cursor = store.cursor(Space.KEY, Bytes.EMPTY, null, false)) {
        StoreBatch more = batch(51, 90);
        more.delete(Space.KEY, number(3));
        store.write(more);
        store.flush();
        int seen = 0;
        while (cursor.next()) {
          seen++;
        }
        assertThat(seen).isEqualTo(50);
      }
    }
  }

  @Test
  void concurrentReadersSeeWholeBatches() {
    AtomicBoolean stop = new AtomicBoolean();
    try (RocksStore store = RocksStore.open(temp.resolve("s"), SMALL)) {
      store.write(batch(1, 10));
      List<CompletableFuture<Void>> readers = new ArrayList<>();
      for (int r = 0; r < 3; r++) {
        readers.add(
            CompletableFuture.runAsync(
                () -> {
                  while (!stop.get()) {
                    long at = applied(store);
                    assertThat(store.get(Space.KEY, number(at))).isEqualTo(value(at));
                    Bytes from = number(at);
                    try (Cursor c = store.cursor(Space.REV, from, from.successor(), false)) {
                      assertThat(c.next()).isTrue();
                      assertThat(c.value()).isEqualTo(number(at));
                    }
                  }
                }));
      }
      for (long i = 11; i < 20_000; i += 10) {
        store.write(batch(i, i + 9));
      }
      stop.set(true);
      readers.forEach(CompletableFuture::join);
    }
  }

  @Test
  void longReadStopsSoonWhenStoreIsClosed() throws Exception {
    RocksStore store = RocksStore.open(temp.resolve("s"), SMALL);
    store.write(batch(1, 1000));
    CompletableFuture<Void> reading = new CompletableFuture<>();
    CompletableFuture<StoreException> ended =
        CompletableFuture.supplyAsync(
            () -> {
              try (Cursor cursor = store.cursor(Space.KEY, Bytes.EMPTY, null, false)) {
                while (true) {
                  cursor.next();
                  reading.complete(null);
                  cursor.seek(number(1));
                }
              } catch (StoreException e) {
                return e;
              }
            });
    reading.get();
    store.close();
    assertThat(ended.get()).hasMessageContaining("closed");
  }

  @Test
  void closeRejectsNewCallsAndWaitsForOpenCursors() throws Exception {
    RocksStore store = RocksStore.open(temp.resolve("s"), SMALL);
    store.write(batch(1, 10));
    Cursor cursor = store.cursor(Space.KEY, Bytes.EMPTY, null, false);
    CompletableFuture<Void> closing = CompletableFuture.runAsync(store::close);
    while (true) {
      try {
        store.get(Space.KEY, number(1));
      } catch (StoreException e) {
        break; // the gate is shut, the cursor is still inside
      }
    }
    assertThatThrownBy(cursor::next).isInstanceOf(StoreException.class);
    assertThatThrownBy(() -> cursor.seek(number(1))).isInstanceOf(StoreException.class);
    assertThat(closing).isNotDone();
    cursor.close();
    cursor.close();
    closing.get();
    store.close();
    StoreException e = catchThrowableOfType(StoreException.class, () -> store.write(batch(1, 1)));
    assertThat(StoreFailure.of(e)).isEqualTo(StoreFailure.OTHER);
    assertThatThrownBy(cursor::next).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void distinguishesCorruptionFromOtherFailures() throws IOException {
    Path dir = temp.resolve("s");
    try (RocksStore store = RocksStore.open(dir, SMALL)) {
      store.write(batch(1, 5000));
    }
    try (Stream<Path> files = Files.list(dir)) {
      for (Path table : files.filter(p -> p.toString().endsWith(".sst")).toList()) {
        byte[] bytes = Files.readAllBytes(table);
        bytes[Math.min(100, bytes.length / 2)] ^= 1;
        Files.write(table, bytes, StandardOpenOption.TRUNCATE_EXISTING);
      }
    }
    StoreException e =
        catchThrowableOfType(
            StoreException.class,
            () -> {
              try (RocksStore store = RocksStore.open(dir, SMALL)) {
                count(store, Space.META);
                count(store, Space.KEY);
                count(store, Space.REV);
              }
            });
    assertThat(StoreFailure.of(e)).isEqualTo(StoreFailure.CORRUPTION);
  }

  @Test
  void missingFileIsDamageOfTheState() throws IOException {
    Path dir = temp.resolve("s");
    try (RocksStore store = RocksStore.open(dir, SMALL)) {
      store.write(batch(1, 10));
    }
    try (Stream<Path> files = Files.list(dir)) {
      for (Path manifest :
          files.filter(p -> p.getFileName().toString().startsWith("MANIFEST")).toList()) {
        Files.delete(manifest);
      }
    }
    StoreException e =
        catchThrowableOfType(StoreException.class, () -> RocksStore.open(dir, SMALL).close());
    assertThat(StoreFailure.of(e)).isEqualTo(StoreFailure.CORRUPTION);
    assertThat(e).hasMessageContaining("MANIFEST");
  }

  @NeedsRoot
  @Test
  void detectsFullDisk() throws Exception {
    Path mount = Files.createDirectory(temp.resolve("small"));
    RocksDB.loadLibrary(); // not onto the small disk
    run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", mount.toString());
    try {
      RocksStore store = RocksStore.open(mount.resolve("s"), SMALL);
      StoreException e =
          catchThrowableOfType(
              StoreException.class,
              () -> {
                byte[] noise = new byte[10_000];
                Random random = new Random(1);
                for (long i = 1; i < 5000; i++) {
                  random.nextBytes(noise);
                  StoreBatch batch = new StoreBatch();
                  batch.put(Space.KEY, number(i), Bytes.copyOf(noise));
                  store.write(batch);
                  if (i % 100 == 0) {
                    store.flush();
                  }
                }
              });
      assertThat(StoreFailure.of(e)).isEqualTo(StoreFailure.DISK_FULL);
      assertThatThrownBy(store::close).isInstanceOf(StoreException.class);
    } finally {
      run("umount", "-l", mount.toString());
    }
  }

  @NeedsRoot
  @Test
  void manyDeletionsDoNotFlushToFullDisk() throws Exception {
    Path mount = Files.createDirectory(temp.resolve("small"));
    RocksDB.loadLibrary(); // not onto the small disk
    run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", mount.toString());
    try (RocksStore store = RocksStore.open(mount.resolve("s"), RocksSettings.DEFAULT)) {
      int rows = 60_000;
      writeRows(store, rows, Bytes.copyOf(new byte[20]));
      store.flush();
      Path filler = mount.resolve("filler");
      fill(filler);

      writeRows(store, rows, null);

      await()
          .until(
              () ->
                  store.property("rocksdb.mem-table-flush-pending") == 0
                      && store.property("rocksdb.num-running-flushes") == 0);
      assertThat(store.property("rocksdb.background-errors")).isZero();
      StoreBatch later = new StoreBatch();
      later.put(Space.LATEST, number(1), Bytes.copyOf(new byte[20]));
      store.write(later);
      assertThat(store.get(Space.LATEST, number(1))).isNotNull();
      Files.delete(filler);
      store.flush();
    } finally {
      run("umount", "-l", mount.toString());
    }
  }

  private static void writeRows(RocksStore store, int rows, @Nullable Bytes value) {
    for (int first = 0; first < rows; first += 1000) {
      StoreBatch batch = new StoreBatch();
      for (int i = first; i < first + 1000; i++) {
        if (value == null) {
          batch.delete(Space.LATEST, number(i));
        } else {
          batch.put(Space.LATEST, number(i), value);
        }
      }
      store.write(batch);
    }
  }

  private static void fill(Path filler) throws IOException {
    try (OutputStream out = Files.newOutputStream(filler)) {
      byte[] piece = new byte[64 * 1024];
      while (true) {
        out.write(piece);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
    }
  }

  @Test
  void rejectsStoreWithUnknownSpaces() throws Exception {
    Path dir = temp.resolve("s");
    RocksStore.open(dir, SMALL).close();
    RocksDB.loadLibrary();
    try (Options options = new Options()) {
      List<ColumnFamilyDescriptor> families = new ArrayList<>();
      for (byte[] name : RocksDB.listColumnFamilies(options, dir.toString())) {
        families.add(new ColumnFamilyDescriptor(name));
      }
      try (RocksDB db = RocksDB.open(dir.toString(), families, new ArrayList<>())) {
        db.createColumnFamily(
                new ColumnFamilyDescriptor("future".getBytes(StandardCharsets.US_ASCII)))
            .close();
      }
    }
    assertThatThrownBy(() -> RocksStore.open(dir, SMALL))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("[future]");
  }

  @Test
  void sizesFollowTheData() throws InterruptedException {
    try (RocksStore store = RocksStore.open(temp.resolve("s"), SMALL)) {
      long empty = store.sizeOnDisk();
      byte[] noise = new byte[100_000];
      Random random = new Random(1);
      for (long i = 0; i < 100; i++) {
        random.nextBytes(noise);
        StoreBatch batch = new StoreBatch();
        batch.put(Space.KEY, number(i), Bytes.copyOf(noise));
        store.write(batch);
      }
      store.flush();
      long end = System.nanoTime() + 10_000_000_000L;
      while (store.sizeOnDisk() < empty + 9_000_000 && System.nanoTime() < end) {
        Thread.onSpinWait();
      }
      assertThat(store.sizeOnDisk()).isBetween(9_000_000L, 40_000_000L);
      assertThat(store.sizeInUse()).isBetween(8_000_000L, store.sizeOnDisk());
      assertThat(store.property("rocksdb.num-immutable-mem-table")).isNotNegative();
      StoreBatch deletes = new StoreBatch();
      for (long i = 0; i < 100; i++) {
        deletes.delete(Space.KEY, number(i));
      }
      store.write(deletes);
      assertThat(store.sizeOnDisk()).as("asked just before").isGreaterThan(5_000_000);
      store.compactFully();
      assertThat(store.sizeOnDisk())
          .as("immediately, for a following disarm")
          .isLessThan(5_000_000);
    }
  }

  private static StoreBatch batch(long from, long to) {
    StoreBatch batch = new StoreBatch();
    for (long i = from; i <= to; i++) {
      batch.put(Space.KEY, number(i), value(i));
      batch.put(Space.REV, number(i), number(i));
    }
    batch.put(Space.META, Bytes.utf8("applied"), number(to));
    return batch;
  }

  private static long applied(RocksStore store) {
    Bytes held = store.get(Space.META, Bytes.utf8("applied"));
    assertThat(held).isNotNull();
    return held == null ? 0 : Long.parseLong(held.utf8().strip());
  }

  private static Bytes number(long value) {
    return Bytes.utf8(String.format("%12d", value));
  }

  private static Bytes value(long i) {
    return Bytes.utf8("value of " + i + " ".repeat((int) (i % 50)));
  }

  private static long count(RocksStore store, Space space) {
    long count = 0;
    try (Cursor cursor = store.cursor(space, Bytes.EMPTY, null, false)) {
      while (cursor.next()) {
        count++;
      }
    }
    return count;
  }

  private static void run(String... command) throws Exception {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor())
        .as("%s (this test needs root): %s", String.join(" ", command), output.strip())
        .isZero();
  }
}
