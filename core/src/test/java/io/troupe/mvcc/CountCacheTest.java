package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.model.Bytes;
import org.junit.jupiter.api.Test;

class CountCacheTest {
  private static final Bytes END = Bytes.utf8("z");

  private final CountCache cache = new CountCache();

  @Test
  void startsBetweenHaveTheCount() {
    cache.note(Bytes.utf8("b"), Bytes.utf8("d"), END, 5, 7);
    assertThat(cache.find(Bytes.utf8("c"), END, 5)).isEqualTo(7);
    assertThat(cache.find(Bytes.utf8("e"), END, 5)).isEqualTo(-1);
    assertThat(cache.find(Bytes.utf8("c"), END, 6)).isEqualTo(-1);
  }

  /** There are four thousand entries at most, so their bytes bound the memory. */
  @Test
  void longKeysAreNotKept() {
    Bytes start = Bytes.wrap(new byte[2000]);
    cache.note(start, start, END, 5, 7);
    assertThat(cache.find(start, END, 5)).isEqualTo(-1);
    cache.note(Bytes.utf8("b"), Bytes.utf8("d"), start, 5, 7);
    assertThat(cache.find(Bytes.utf8("c"), start, 5)).isEqualTo(-1);
  }
}
