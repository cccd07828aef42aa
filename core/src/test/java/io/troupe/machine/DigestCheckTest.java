package io.troupe.machine;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.machine.DigestCheck.Difference;
import org.junit.jupiter.api.Test;

class DigestCheckTest {
  private static long digest(long index) {
    return index * 1000 + 7;
  }

  private static DigestCheck upTo(long from, long to) {
    DigestCheck check = new DigestCheck(from, digest(from));
    for (long i = from + 1; i <= to; i++) {
      assertThat(check.applied(i, digest(i))).isNull();
    }
    return check;
  }

  @Test
  void onlyUnequalDigestsAreDifferences() {
    DigestCheck check = upTo(10, 20);
    assertThat(check.compare(15, digest(15))).isNull();
    assertThat(check.compare(10, digest(10))).as("as opened").isNull();
    assertThat(check.compare(15, 3)).isEqualTo(new Difference(15, digest(15), 3));
    assertThat(check.compare(20, 3)).isEqualTo(new Difference(20, digest(20), 3));
    assertThat(check.index()).isEqualTo(20);
    assertThat(check.digest()).isEqualTo(digest(20));
  }

  @Test
  void digestForUnappliedIndexIsComparedAfterApply() {
    DigestCheck check = upTo(0, 5);
    assertThat(check.compare(7, digest(7))).isNull();
    assertThat(check.compare(8, 1)).isNull();
    assertThat(check.applied(6, digest(6))).isNull();
    assertThat(check.applied(7, digest(7))).isNull();
    assertThat(check.applied(8, digest(8))).isEqualTo(new Difference(8, digest(8), 1));
    assertThat(check.applied(9, digest(9))).as("reported once").isNull();
  }

  @Test
  void indexesWithoutOwnDigestAreNotCompared() {
    DigestCheck check = upTo(10, 10 + DigestCheck.KEPT + 5);
    long last = 10 + DigestCheck.KEPT + 5;
    assertThat(check.compare(9, 1)).as("before the state was opened").isNull();
    assertThat(check.compare(last - DigestCheck.KEPT, 1)).as("overwritten").isNull();
    assertThat(check.compare(last - DigestCheck.KEPT + 1, 1)).as("the oldest kept").isNotNull();
  }

  @Test
  void pendingDigestsAreBounded() {
    DigestCheck check = upTo(0, 1);
    for (int i = 0; i < 1000; i++) {
      check.compare(10 + i, 1);
    }
    int differences = 0;
    for (long i = 2; i < 1100; i++) {
      differences += check.applied(i, digest(i)) == null ? 0 : 1;
    }
    assertThat(differences).isEqualTo(DigestCheck.WAITING);
  }
}
