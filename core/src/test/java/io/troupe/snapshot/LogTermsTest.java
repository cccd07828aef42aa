package io.troupe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogTermsTest {
  /** Entries 11 to 13 of terms 3, 3, 5; everything up to 10 was removed. */
  private static final class Log implements LogTerms {
    @Override
    public long compactedIndex() {
      return 10;
    }

    @Override
    public long termAt(long index) {
      assertThat(index).isGreaterThan(10);
      return index > 13 ? NONE : index == 13 ? 5 : 3;
    }
  }

  private final LogTerms log = new Log();

  @Test
  void logContinuesWhereItBegins() {
    assertThat(log.continues(10, 2)).isTrue();
  }

  @Test
  void logContinuesEntriesThatItContains() {
    assertThat(log.continues(11, 3)).isTrue();
    assertThat(log.continues(13, 5)).isTrue();
  }

  @Test
  void entryOfAnotherTermContradicts() {
    assertThat(log.continues(12, 4)).isFalse();
    assertThat(log.continues(13, 3)).isFalse();
  }

  @Test
  void logHasAGapAfterOlderSnapshots() {
    assertThat(log.continues(9, 2)).isFalse();
  }

  @Test
  void logEndsBeforeASnapshotThatWasNotInstalled() {
    assertThat(log.continues(14, 5)).isFalse();
    assertThat(log.continues(14, LogTerms.NONE + 6)).isFalse();
  }
}
