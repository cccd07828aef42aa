package io.troupe.etcd.bolt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Bytes;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Written files contain what was put; damaged ones are detected. */
class BoltFileTest {
  private final Path dir;

  BoltFileTest(@TempDir Path temp) {
    dir = temp;
  }

  private static SortedMap<Bytes, Bytes> rows(SplittableRandom random, int count, int mostValue) {
    SortedMap<Bytes, Bytes> rows = new TreeMap<>();
    while (rows.size() < count) {
      byte[] key = new byte[random.nextInt(1, 40)];
      random.nextBytes(key);
      byte[] value = new byte[random.nextInt(mostValue)];
      random.nextBytes(value);
      rows.put(Bytes.wrap(key), Bytes.wrap(value));
    }
    return rows;
  }

  private Path write(Map<String, SortedMap<Bytes, Bytes>> buckets, int nodeBytes)
      throws IOException {
    List<BoltSizes> sizes = new ArrayList<>();
    for (SortedMap<Bytes, Bytes> rows : buckets.values()) {
      BoltSizes bucket = new BoltSizes();
      rows.forEach((key, value) -> bucket.add(key.length(), value.length()));
      sizes.add(bucket);
    }
    BoltWriter writer = new BoltWriter(sizes, nodeBytes);
    Path file = dir.resolve("db");
    try (OutputStream out = Files.newOutputStream(file)) {
      for (Map.Entry<String, SortedMap<Bytes, Bytes>> bucket : buckets.entrySet()) {
        writer.beginBucket();
        bucket.getValue().forEach((key, value) -> writer.put(key, parts(value)));
        writer.endBucket(bucket.getKey());
        drain(writer, out);
      }
      while (!writer.finish()) {
        drain(writer, out);
      }
      drain(writer, out);
    }
    assertThat(Files.size(file)).isEqualTo(writer.fileBytes());
    return file;
  }

  /** Values may come in parts. */
  private static List<Bytes> parts(Bytes value) {
    int middle = value.length() / 2;
    return value.length() % 2 == 0
        ? List.of(value)
        : List.of(value.slice(0, middle), value.slice(middle));
  }

  private static void drain(BoltWriter writer, OutputStream out) throws IOException {
    while (writer.unreadBytes() > 0) {
      out.write(writer.read(1000).toArray());
    }
  }

  private static SortedMap<Bytes, Bytes> read(BoltReader reader, String bucket) {
    SortedMap<Bytes, Bytes> rows = new TreeMap<>();
    BoltWalk walk = reader.walk(bucket);
    while (walk.next()) {
      rows.put(walk.key(), walk.value());
    }
    return rows;
  }

  /** Nodes of one page make trees with several levels. */
  @Test
  void readerReturnsWhatWasWritten() throws IOException {
    for (long seed = 1; seed <= 30; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Map<String, SortedMap<Bytes, Bytes>> buckets = new TreeMap<>();
      buckets.put("empty", new TreeMap<>());
      buckets.put("one", rows(random, 1, 20_000));
      buckets.put("small", rows(random, random.nextInt(2, 2_000), 30));
      buckets.put("large", rows(random, random.nextInt(2, 300), 9_000));
      int nodeBytes = random.nextBoolean() ? 128 << 10 : 200;
      try (BoltReader reader = BoltReader.open(write(buckets, nodeBytes))) {
        for (Map.Entry<String, SortedMap<Bytes, Bytes>> bucket : buckets.entrySet()) {
          assertThat(read(reader, bucket.getKey()))
              .as("seed %d %s", seed, bucket.getKey())
              .isEqualTo(bucket.getValue());
        }
        assertThat(reader.has("absent")).isFalse();
        assertThat(read(reader, "absent")).isEmpty();
      }
    }
  }

  @Test
  void fileHasLittlePadding() throws IOException {
    SplittableRandom random = new SplittableRandom(1);
    SortedMap<Bytes, Bytes> rows = rows(random, 20_000, 600);
    long content = 0;
    for (Map.Entry<Bytes, Bytes> row : rows.entrySet()) {
      content += row.getKey().length() + row.getValue().length() + BoltPages.ELEMENT_BYTES;
    }
    Path file = write(Map.of("key", rows), 128 << 10);
    assertThat(Files.size(file)).isLessThan(content * 106 / 100);
  }

  @Test
  void writerRejectsMoreThanAnnounced() {
    BoltWriter writer = new BoltWriter(List.of(new BoltSizes()));
    writer.beginBucket();
    writer.put(Bytes.utf8("a"), List.of(Bytes.wrap(new byte[1 << 20])));
    assertThatThrownBy(() -> writer.endBucket("key"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the buckets are larger than announced");
  }

  /** Any changed byte is either without meaning or detected; nothing is allocated for it. */
  @Test
  void damagedFileIsDetectedOrReadsSafely() throws IOException {
    SplittableRandom random = new SplittableRandom(7);
    Path file = write(Map.of("key", rows(random, 500, 60)), 200);
    byte[] good = Files.readAllBytes(file);
    int detected = 0;
    for (int i = 0; i < 3_000; i++) {
      byte[] bad = good.clone();
      bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, bad);
      try (BoltReader reader = BoltReader.open(file)) {
        assertThat(read(reader, "key")).hasSizeLessThanOrEqualTo(70_000);
      } catch (DamagedDatabaseException damaged) {
        detected++;
      }
    }
    assertThat(detected).isPositive();
  }

  @Test
  void incompleteFileIsRejected() throws IOException {
    SplittableRandom random = new SplittableRandom(8);
    Path file = write(Map.of("key", rows(random, 500, 600)), 128 << 10);
    byte[] whole = Files.readAllBytes(file);
    for (int length : new int[] {0, 1, 4096, 8192, whole.length - 1}) {
      Files.write(file, Arrays.copyOf(whole, length));
      assertThatThrownBy(
              () -> {
                try (BoltReader reader = BoltReader.open(file)) {
                  read(reader, "key");
                }
              })
          .as("%d bytes", length)
          .isInstanceOf(DamagedDatabaseException.class);
    }
  }

  @Test
  void otherFileIsRejected() throws IOException {
    Path file = dir.resolve("other");
    Files.writeString(file, "not a database".repeat(10_000));
    assertThatThrownBy(() -> BoltReader.open(file))
        .isInstanceOf(DamagedDatabaseException.class)
        .hasMessage("not a database file: no valid meta page");
  }
}
