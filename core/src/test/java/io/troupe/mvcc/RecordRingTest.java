package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RecordRingTest {
  private static NewestRecord record(Bytes key, long revision, byte[] value, Random random) {
    KeyValue kv =
        new KeyValue(
            key,
            revision / 2,
            revision,
            random.nextInt(5),
            Bytes.wrap(value),
            random.nextInt(4) == 0 ? random.nextLong() : 0);
    return new NewestRecord(kv, random.nextInt(3) - 1);
  }

  /** Random changes beside a map: a record that is found is the last one of its key. */
  @ParameterizedTest
  @CsvSource({
    "0, 10, 20, 0",
    "100, 5, 20, 0",
    "700, 10, 60, 0",
    "5000, 40, 300, 0",
    "20000, 1000, 300, 0",
    "100000, 100, 9000, 0",
    "50000, 5000, 40, 0",
    "60000, 2000, 100, 1"
  })
  void foundRecordIsLastOneOfItsKey(int bytes, int keys, int valueBytes, int equalHashes) {
    for (long seed = 1; seed <= 20; seed++) {
      Random random = new Random(seed);
      RecordRing ring = new RecordRing(bytes);
      List<Bytes> names = equalHashes == 1 ? equalHashes(keys) : names(keys, random);
      Map<Bytes, NewestRecord> last = new HashMap<>();
      for (int i = 0; i < 20_000; i++) {
        Bytes key = names.get(skewed(random, keys));
        if (random.nextInt(3) == 0) {
          byte[] value = new byte[random.nextInt(8) == 0 ? random.nextInt(valueBytes) : 7];
          random.nextBytes(value);
          NewestRecord newest = record(key, i, value, random);
          ring.put(newest);
          last.put(key, newest);
        } else {
          boolean contained = ring.contains(key);
          NewestRecord found = ring.find(key);
          assertThat(found == null || found.equals(last.get(key)))
              .as("seed %s, step %s: %s", seed, i, found)
              .isTrue();
          assertThat(contained).isEqualTo(found != null);
        }
        assertThat(ring.bytes()).isLessThanOrEqualTo(Math.max(bytes, 8));
      }
    }
  }

  private static int skewed(Random random, int keys) {
    return random.nextBoolean() ? random.nextInt(keys) : random.nextInt(1 + keys / 10);
  }

  private static List<Bytes> names(int keys, Random random) {
    List<Bytes> names = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      names.add(Bytes.utf8("/registry/pods/" + i + "x".repeat(random.nextInt(10))));
    }
    return names;
  }

  /** Names of the same length and hash: "Aa" and "BB" have equal hashes. */
  private static List<Bytes> equalHashes(int keys) {
    List<Bytes> names = new ArrayList<>();
    for (int i = 0; i < keys; i++) {
      StringBuilder name = new StringBuilder();
      for (int bit = 0; bit < 13; bit++) {
        name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
      }
      names.add(Bytes.utf8(name.toString()));
    }
    assertThat(names.stream().map(Bytes::hashCode).distinct()).hasSize(1);
    return names;
  }

  /**
   * Two-letter keys have neighboring hashes, so their slots form long rows with records far from
   * their places. Random removals leave every other record where a search finds it.
   */
  @Test
  void longRowsOfUsedSlotsKeepTheirRecords() {
    for (long seed = 1; seed <= 20; seed++) {
      Random random = new Random(seed);
      RecordRing ring = new RecordRing(1 << 20);
      Map<Bytes, NewestRecord> last = new HashMap<>();
      for (int i = 0; i < 20_000; i++) {
        Bytes key = Bytes.of(random.nextInt(40), random.nextInt(256));
        boolean had = ring.contains(key);
        long before = i % 100 == 0 ? last.keySet().stream().filter(ring::contains).count() : 0;
        // A value that is too large removes the record of its key.
        byte[] value = new byte[random.nextInt(3) == 0 ? 1 << 19 : 1];
        NewestRecord newest = record(key, i, value, random);
        ring.put(newest);
        if (value.length > 1) {
          last.remove(key);
          assertThat(ring.contains(key)).isFalse();
          if (i % 100 == 0) {
            long after = last.keySet().stream().filter(ring::contains).count();
            assertThat(after).as("seed %s, step %s", seed, i).isEqualTo(before - (had ? 1 : 0));
          }
        } else {
          last.put(key, newest);
        }
      }
    }
  }

  @Test
  void allRecordsStayWhileTheyFit() {
    RecordRing ring = new RecordRing(100_000);
    for (int round = 0; round < 50; round++) {
      for (int i = 0; i < 1000; i++) {
        ring.put(record(Bytes.utf8("key" + i), round, new byte[20], new Random(i)));
      }
    }
    for (int i = 0; i < 1000; i++) {
      assertThat(ring.find(Bytes.utf8("key" + i))).as("key%s", i).isNotNull();
    }
  }

  @Test
  void recordsThatAreUsedSurviveOnesThatAreNot() {
    RecordRing ring = new RecordRing(100_000);
    Random random = new Random(1);
    ring.put(record(Bytes.utf8("used"), 1, new byte[100], random));
    ring.put(record(Bytes.utf8("unused"), 1, new byte[100], random));
    for (int i = 0; i < 10_000; i++) {
      ring.put(record(Bytes.utf8("key" + i), i, new byte[100], random));
      assertThat(ring.find(Bytes.utf8("used"))).as("after %s records", i).isNotNull();
    }
    assertThat(ring.find(Bytes.utf8("unused"))).isNull();
    assertThat(ring.find(Bytes.utf8("key9999"))).isNotNull();
  }

  /** A used record is found although all the others are used too. */
  @Test
  void newRecordIsFoundIfAllOthersAreUsed() {
    RecordRing ring = new RecordRing(50_000);
    Random random = new Random(1);
    for (int i = 0; i < 5_000; i++) {
      ring.put(record(Bytes.utf8("key" + i), i, new byte[100], random));
      for (int j = Math.max(0, i - 1000); j <= i; j++) {
        NewestRecord found = ring.find(Bytes.utf8("key" + j));
        assertThat(j < i || found != null).isTrue();
      }
    }
  }

  /** If all records are used, one append moves 16 of them and evicts the next one. */
  @Test
  void oneAppendMovesFewRecords() {
    int records = 500;
    int size = RecordRing.HEADER + 100;
    RecordRing ring = new RecordRing(records * size * 8 / 7 + 8);
    for (int i = 0; i < records; i++) {
      ring.put(record(Bytes.utf8("key" + (1000 + i)), 1, new byte[93], new Random(1)));
    }
    for (int i = 0; i < records; i++) {
      assertThat(ring.find(Bytes.utf8("key" + (1000 + i)))).as("record %s", i).isNotNull();
    }
    ring.put(record(Bytes.utf8("key0000"), 1, new byte[93], new Random(1)));
    for (int i = 0; i < records; i++) {
      assertThat(ring.contains(Bytes.utf8("key" + (1000 + i)))).as("%s", i).isEqualTo(i != 16);
    }
    assertThat(ring.contains(Bytes.utf8("key0000"))).isTrue();
  }

  @Test
  void recordDoesNotChangeAfterItWasFound() {
    RecordRing ring = new RecordRing(1000);
    NewestRecord first = record(Bytes.utf8("a"), 1, new byte[] {1}, new Random(1));
    ring.put(first);
    NewestRecord found = ring.find(Bytes.utf8("a"));
    ring.put(record(Bytes.utf8("a"), 2, new byte[] {2}, new Random(1)));
    assertThat(found).isEqualTo(first);
  }

  @Test
  void recordAboveQuarterOfRingRemovesFormerOne() {
    RecordRing ring = new RecordRing(1000);
    ring.put(record(Bytes.utf8("a"), 1, new byte[10], new Random(1)));
    ring.put(record(Bytes.utf8("a"), 2, new byte[300], new Random(1)));
    assertThat(ring.find(Bytes.utf8("a"))).isNull();
  }

  /** Keys of equal hashes cost a bounded number of comparisons. */
  @Test
  void keysOfEqualHashesLeaveOthersTheirRecords() {
    RecordRing ring = new RecordRing(1 << 20);
    Random random = new Random(1);
    List<Bytes> equal = equalHashes(5000);
    for (Bytes key : equal) {
      ring.put(record(key, 1, new byte[1], random));
    }
    assertThat(equal.stream().filter(ring::contains).count()).isBetween(10L, 64L);
    int found = 0;
    for (int i = 0; i < 1000; i++) {
      Bytes key = Bytes.utf8("key" + i);
      ring.put(record(key, 1, new byte[1], random));
      found += ring.contains(key) ? 1 : 0;
    }
    assertThat(found).as("others that have a record").isGreaterThan(900);
  }
}
