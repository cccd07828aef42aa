package io.troupe.persistence.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.troupe.model.Bytes;
import io.troupe.mvcc.OrderedStore.Space;
import io.troupe.mvcc.StoreBatch;
import io.troupe.mvcc.StoreException;
import io.troupe.persistence.datadir.DurableFiles;
import io.troupe.persistence.store.RocksSettings;
import io.troupe.persistence.store.RocksStore;
import io.troupe.persistence.store.StoreFailure;
import io.troupe.persistence.store.TableFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SnapshotDirectoryTest {
  private static final RocksSettings SMALL = new RocksSettings(8 << 20, 4 << 20, 1, 64, 0);
  private static final Bytes APPLIED = Bytes.utf8("applied");

  private final Path temp;
  private final Path root;

  SnapshotDirectoryTest(@TempDir Path temp) {
    this.temp = temp;
    this.root = temp.resolve("snapshots");
  }

  @Test
  void keepsLastTwoSnapshots() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    assertThat(snapshots.latest(Long.MAX_VALUE)).isEmpty();
    for (long index = 10; index <= 50; index += 10) {
      snapshots.save(plain(snapshots, index));
      SnapshotRef latest = snapshots.latest(Long.MAX_VALUE).orElseThrow();
      assertThat(latest.index()).isEqualTo(index);
      assertThat(latest.membership()).isEqualTo(Bytes.utf8("members at " + index));
      snapshots.verify(latest);
    }
    assertThat(snapshots.latest(45).orElseThrow().index()).isEqualTo(40);
    assertThat(snapshots.latest(35)).isEmpty();
    assertThat(names(root)).hasSize(4);
    snapshots.delete(0, 49);
    assertThat(snapshots.latest(45)).isEmpty();
    assertThat(names(root)).hasSize(2);
    assertThatThrownBy(() -> snapshots.prepare(50, 1)).isInstanceOf(SnapshotException.class);
  }

  @Test
  void restoredStoreEqualsSnapshotAndSnapshotStaysComplete() {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    SnapshotRef ref;
    try (RocksStore store = RocksStore.open(temp.resolve("state"), SMALL)) {
      write(store, 1, 1000);
      ref = checkpoint(snapshots, store, 1000);
      snapshots.save(ref);
      write(store, 1001, 2000);
      snapshots.save(checkpoint(snapshots, store, 2000));
    }
    for (int round = 0; round < 2; round++) {
      Path restored = temp.resolve("restored" + round);
      snapshots.restore(ref, restored);
      try (RocksStore store = RocksStore.open(restored, SMALL)) {
        assertThat(store.get(Space.META, APPLIED)).isEqualTo(Bytes.utf8("1000"));
        write(store, 1001, 1500);
        store.compactFully();
      }
      snapshots.verify(ref);
    }
    snapshots.verify(snapshots.latest(Long.MAX_VALUE).orElseThrow());
  }

  @Test
  void sharedTableFilesGetOneChecksum() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    try (RocksStore store = RocksStore.open(temp.resolve("state"), SMALL)) {
      write(store, 1, 1000);
      snapshots.save(checkpoint(snapshots, store, 1000));
      write(store, 1001, 1100);
      SnapshotRef second = checkpoint(snapshots, store, 1100);
      // Damage in a file that both share: if it were read again, the damage would get a matching
      // checksum.
      SnapshotRef first = snapshots.latest(Long.MAX_VALUE).orElseThrow();
      Path table = firstTable(first.directory());
      byte[] bytes = Files.readAllBytes(table);
      bytes[bytes.length / 2] ^= 4;
      try (var out = Files.newOutputStream(table, java.nio.file.StandardOpenOption.WRITE)) {
        out.write(bytes);
      }
      snapshots.save(second);
      assertThatThrownBy(() -> snapshots.verify(second))
          .isInstanceOf(SnapshotException.class)
          .hasMessageContaining(table.getFileName().toString());
    }
  }

  /** Each byte of a table file is in a block with a checksum, or the file cannot be opened. */
  @Test
  void saveDetectsTableDamagedBeforeItsFirstChecksum() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root, TableFiles::verify);
    try (RocksStore store = RocksStore.open(temp.resolve("state"), SMALL)) {
      write(store, 1, 1000);
      snapshots.save(checkpoint(snapshots, store, 1000));
      write(store, 1001, 2000);
      SnapshotRef second = checkpoint(snapshots, store, 2000);
      List<Path> added;
      try (Stream<Path> found = Files.list(second.directory())) {
        Path first = snapshots.latest(1000).orElseThrow().directory();
        added =
            found
                .filter(path -> SnapshotDirectory.isTable(path.getFileName().toString()))
                .filter(path -> !Files.exists(first.resolve(path.getFileName())))
                .toList();
      }
      assertThat(added).isNotEmpty();
      Path table = added.get(0);
      byte[] bytes = Files.readAllBytes(table);
      bytes[bytes.length / 2] ^= 4;
      try (var out = Files.newOutputStream(table, java.nio.file.StandardOpenOption.WRITE)) {
        out.write(bytes);
      }
      StoreException found =
          catchThrowableOfType(StoreException.class, () -> snapshots.save(second));
      assertThat(found).hasMessageContaining(table.getFileName().toString());
      assertThat(StoreFailure.of(found)).isEqualTo(StoreFailure.CORRUPTION);
      assertThat(snapshots.indexes()).containsExactly(1000L);
      assertThat(names(root)).hasSize(2);
    }
  }

  @Test
  void damagedSnapshotIsSkippedForPreviousOne() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    snapshots.save(plain(snapshots, 10));
    snapshots.save(plain(snapshots, 20));
    SnapshotRef newest = snapshots.latest(Long.MAX_VALUE).orElseThrow();
    Path manifest = root.resolve(newest.directory().getFileName() + ".manifest");
    byte[] good = Files.readAllBytes(manifest);
    for (int i = 0; i < good.length; i++) {
      byte[] bad = good.clone();
      bad[i] ^= 2;
      Files.write(manifest, bad);
      assertThat(snapshots.latest(Long.MAX_VALUE).orElseThrow().index())
          .as("byte %d", i)
          .isEqualTo(10);
    }
    Files.write(manifest, good);
    Path file = newest.directory().resolve("b.sst");
    byte[] content = Files.readAllBytes(file);
    byte[] flipped = content.clone();
    flipped[3] ^= 1;
    Files.write(file, flipped);
    assertThat(snapshots.latest(Long.MAX_VALUE).orElseThrow().index()).isEqualTo(20);
    assertThat(catchThrowableOfType(SnapshotException.class, () -> snapshots.verify(newest)).kind())
        .isEqualTo(SnapshotException.Kind.DAMAGED);
    assertThatThrownBy(() -> snapshots.restore(newest, temp.resolve("target")))
        .isInstanceOf(SnapshotException.class);
    assertThat(temp.resolve("target")).doesNotExist();
    Files.write(file, List.of("shorter"));
    assertThat(snapshots.latest(Long.MAX_VALUE).orElseThrow().index()).isEqualTo(10);
    Files.delete(file);
    assertThat(snapshots.latest(Long.MAX_VALUE).orElseThrow().index()).isEqualTo(10);
  }

  @Test
  void failedSaveLeavesNoFiles() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    snapshots.save(plain(snapshots, 10));
    List<String> before = names(root);
    SnapshotRef ref = plain(snapshots, 20);
    // The manifest cannot be written: its path is occupied.
    Files.createDirectory(root.resolve(base(20) + ".manifest.new"));
    assertThatThrownBy(() -> snapshots.save(ref)).isInstanceOf(SnapshotException.class);
    assertThat(names(root)).isEqualTo(before);
    snapshots.save(plain(snapshots, 20));
    assertThat(snapshots.indexes()).containsExactly(10L, 20L);
  }

  @Test
  void twoCompleteSnapshotsStayInAdditionToDamagedOne() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    snapshots.save(plain(snapshots, 10));
    snapshots.save(plain(snapshots, 20));
    Files.delete(root.resolve(base(20)).resolve("b.sst"));
    snapshots.save(plain(snapshots, 30));
    assertThat(snapshots.indexes()).containsExactly(10L, 20L, 30L);
    snapshots.save(plain(snapshots, 40));
    assertThat(snapshots.indexes()).containsExactly(30L, 40L);
  }

  @Test
  void crashAtAnyStepLeavesOldOrNewSnapshot() throws IOException {
    SnapshotDirectory snapshots = new SnapshotDirectory(root);
    snapshots.save(plain(snapshots, 10));
    snapshots.save(plain(snapshots, 20));
    Path before = temp.resolve("before");
    copy(root, before);
    snapshots.save(plain(snapshots, 30));
    Path after = temp.resolve("after");
    copy(root, after);
    String old = base(10);
    String fresh = base(30);
    Path content = after.resolve(fresh);
    Path manifest = after.resolve(fresh + ".manifest");
    byte[] text = Files.readAllBytes(manifest);

    List<Step> steps =
        List.of(
            new Step("nothing", 20, w -> {}),
            new Step("content empty", 20, w -> Files.createDirectory(w.resolve(fresh))),
            new Step(
                "content half made",
                20,
                w -> {
                  Files.createDirectory(w.resolve(fresh));
                  Files.writeString(w.resolve(fresh).resolve("a.sst"), "half");
                }),
            new Step("content made", 20, w -> copy(content, w.resolve(fresh))),
            new Step(
                "manifest half written",
                20,
                w -> {
                  copy(content, w.resolve(fresh));
                  Files.write(
                      w.resolve(fresh + ".manifest.new"),
                      java.util.Arrays.copyOf(text, text.length / 2));
                }),
            new Step(
                "manifest written",
                20,
                w -> {
                  copy(content, w.resolve(fresh));
                  Files.write(w.resolve(fresh + ".manifest.new"), text);
                }),
            new Step(
                "manifest renamed",
                30,
                w -> {
                  copy(content, w.resolve(fresh));
                  Files.write(w.resolve(fresh + ".manifest"), text);
                }),
            new Step(
                "old manifest removed",
                30,
                w -> {
                  copy(content, w.resolve(fresh));
                  Files.write(w.resolve(fresh + ".manifest"), text);
                  Files.delete(w.resolve(old + ".manifest"));
                }),
            new Step(
                "old content half removed",
                30,
                w -> {
                  copy(content, w.resolve(fresh));
                  Files.write(w.resolve(fresh + ".manifest"), text);
                  Files.delete(w.resolve(old + ".manifest"));
                  Files.delete(w.resolve(old).resolve("a.sst"));
                }));
    for (Step step : steps) {
      Path world = temp.resolve("world");
      DurableFiles.deleteTree(world);
      copy(before, world);
      step.change().on(world);
      SnapshotDirectory restarted = new SnapshotDirectory(world);
      restarted.removeStrays();
      Optional<SnapshotRef> latest = restarted.latest(Long.MAX_VALUE);
      assertThat(latest.orElseThrow().index()).as(step.name()).isEqualTo(step.latest());
      restarted.verify(latest.orElseThrow());
      long manifests = names(world).stream().filter(n -> n.endsWith(".manifest")).count();
      assertThat(names(world)).as(step.name()).hasSize((int) manifests * 2);
      restarted.save(plain(restarted, 40));
      assertThat(restarted.latest(Long.MAX_VALUE).orElseThrow().index()).isEqualTo(40);
    }
  }

  @Test
  void readsManifestOfVersionOne() throws IOException {
    SnapshotManifest manifest =
        new SnapshotManifest(
            1000,
            7,
            Bytes.of(0, 1, 255),
            base(1000),
            List.of(
                new SnapshotManifest.FileSum("000008.sst", 1234, 0x0badcafe),
                new SnapshotManifest.FileSum("CURRENT", 0, -1)));
    try (InputStream golden =
        SnapshotDirectoryTest.class.getResourceAsStream("/golden/snapshot-manifest-v1.txt")) {
      byte[] content = golden == null ? new byte[0] : golden.readAllBytes();
      assertThat(new String(manifest.encode(), StandardCharsets.UTF_8))
          .isEqualTo(new String(content, StandardCharsets.UTF_8));
      assertThat(SnapshotManifest.decode(content)).isEqualTo(manifest);
    }
    for (String bad : List.of("../x", "a/b", ".hidden", "", "a b")) {
      assertThatThrownBy(() -> new SnapshotManifest.FileSum(bad, 1, 1))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  private interface Change {
    void on(Path world) throws IOException;
  }

  private record Step(String name, long latest, Change change) {}

  private static SnapshotRef plain(SnapshotDirectory snapshots, long index) throws IOException {
    Path content = snapshots.prepare(index, 1);
    Files.createDirectories(content);
    Files.writeString(content.resolve("a.sst"), "table a of " + index);
    Files.writeString(content.resolve("b.sst"), "table b of " + index);
    Files.writeString(content.resolve("CURRENT"), "current");
    return new SnapshotRef(index, 1, Bytes.utf8("members at " + index), content);
  }

  private static SnapshotRef checkpoint(SnapshotDirectory snapshots, RocksStore store, long index) {
    Path content = snapshots.prepare(index, 1);
    store.checkpoint(content);
    return new SnapshotRef(index, 1, Bytes.EMPTY, content);
  }

  private static void write(RocksStore store, long from, long to) {
    StoreBatch batch = new StoreBatch();
    for (long i = from; i <= to; i++) {
      batch.put(Space.KEY, Bytes.utf8("key " + i), Bytes.utf8("value " + i));
    }
    batch.put(Space.META, APPLIED, Bytes.utf8(String.valueOf(to)));
    store.write(batch);
  }

  private static Path firstTable(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(p -> p.getFileName().toString().endsWith(".sst"))
          .sorted()
          .findFirst()
          .orElseThrow();
    }
  }

  private static String base(long index) {
    return String.format("%016x-%016x", index, index == 1000 ? 7 : 1);
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(p -> p.getFileName().toString()).sorted().toList();
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> paths = Files.walk(from)) {
      for (Path path : (Iterable<Path>) paths::iterator) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target);
        }
      }
    }
  }
}
