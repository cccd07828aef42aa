package io.troupe.model;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BytesTest {
  @Test
  void orderIsUnsignedAndShorterFirst_R10() {
    assertThat(Bytes.of(0x7f)).isLessThan(Bytes.of(0x80));
    assertThat(Bytes.of(1)).isLessThan(Bytes.of(1, 0));
    assertThat(Bytes.of(1).successor()).isEqualTo(Bytes.of(1, 0));
  }

  @Test
  void slicesEqualCopies() {
    Bytes whole = Bytes.utf8("xabcx");
    Bytes slice = whole.slice(1, 4);
    assertThat(slice).isEqualTo(Bytes.utf8("abc")).hasSameHashCodeAs(Bytes.utf8("abc"));
    assertThat(slice.concat(Bytes.utf8("d"))).isEqualTo(Bytes.utf8("abcd"));
    assertThat(slice.startsWith(Bytes.utf8("ab"))).isTrue();
    assertThat(slice.startsWith(Bytes.utf8("abcx"))).isFalse();
  }

  @Test
  void rangesFollowK1toK3() {
    Bytes a = Bytes.utf8("a");
    assertThat(KeyRange.single(a).contains(a)).isTrue();
    assertThat(KeyRange.single(a).contains(Bytes.utf8("a\0"))).isFalse();
    assertThat(new KeyRange(a, Bytes.of(0)).contains(Bytes.of(0xff))).isTrue();
    assertThat(new KeyRange(a, Bytes.utf8("c")).contains(Bytes.utf8("c"))).isFalse();
    assertThat(new KeyRange(a, a).isEmpty()).isTrue();
    assertThat(KeyRange.all().isEmpty()).isFalse();
  }
}
