package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import org.junit.jupiter.api.Test;

class RecordCacheTest {
  private static NewestRecord kv(String key, long revision, int valueBytes) {
    return new NewestRecord(
        new KeyValue(Bytes.utf8(key), revision, revision, 1, Bytes.wrap(new byte[valueBytes]), 0),
        3);
  }

  /** Holds four records with values of 150 bytes. */
  private final RecordCache cache = new RecordCache(1000);

  @Test
  void recordReadBeforeChangeIsRejectedAfterIt() {
    NewestRecord old = kv("a", 5, 150);
    NewestRecord changed = kv("a", 6, 150);
    cache.committed(changed, 6);
    cache.loaded(old, 5);
    assertThat(cache.find(Bytes.utf8("a"))).isEqualTo(changed);
    for (int i = 0; i < 10; i++) {
      cache.loaded(kv("x" + i, 2, 150), 6);
    }
    assertThat(cache.find(Bytes.utf8("a"))).as("evicted").isNull();
    cache.loaded(old, 5);
    assertThat(cache.find(Bytes.utf8("a"))).as("read at 5, changed at 6, evicted").isNull();
    cache.loaded(changed, 6);
    assertThat(cache.find(Bytes.utf8("a"))).isEqualTo(changed);
  }

  @Test
  void recordsThatWereNotUsedAreEvictedFirst() {
    cache.loaded(kv("a", 2, 150), 2);
    cache.loaded(kv("b", 2, 150), 2);
    cache.loaded(kv("c", 2, 150), 2);
    cache.loaded(kv("d", 2, 150), 2);
    assertThat(cache.find(Bytes.utf8("a"))).isNotNull();
    cache.loaded(kv("e", 2, 150), 2);
    assertThat(cache.find(Bytes.utf8("b"))).isNull();
    assertThat(cache.find(Bytes.utf8("a"))).isNotNull();
  }

  @Test
  void largeValueIsNotCachedAndRemovesOldRecord() {
    cache.committed(kv("a", 2, 0), 2);
    cache.committed(kv("a", 3, 500), 3);
    assertThat(cache.find(Bytes.utf8("a"))).isNull();
  }

  @Test
  void absentKeysAreCachedFromTheirRevisionOn() {
    NewestRecord absent = NewestRecord.absent(Bytes.utf8("a"), 7);
    assertThat(absent.isAbsent()).isTrue();
    assertThat(kv("a", 7, 0).isAbsent()).isFalse();
    cache.committed(absent, 7);
    assertThat(cache.find(Bytes.utf8("a"))).isEqualTo(absent);
    new RecordCache(0).committed(absent, 7);
  }
}
