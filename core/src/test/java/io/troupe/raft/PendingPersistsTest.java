package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PendingPersistsTest {
  private final PendingPersists disk = new PendingPersists(1);

  @Test
  void replacedTailNeverCountsAsDurable() {
    disk.issued(2, 10, 10);
    disk.truncatedFrom(5);
    disk.issued(3, 7, 7);
    assertThat(disk.answered(2, 10)).isEqualTo(4);
    assertThat(disk.durableTerm()).isEqualTo(2);
    assertThat(disk.answered(3, 7)).isEqualTo(7);
    assertThat(disk.isEmpty()).isTrue();
  }

  @Test
  void persistWithoutEntriesProvesWhatWasWrittenBefore() {
    disk.issued(2, 10, 10);
    disk.issued(3, 0, 10);
    assertThat(disk.answered(3, 0)).isEqualTo(10);
    disk.issued(4, 0, 10);
    assertThat(disk.answered(4, 10)).as("the end of the log will do too").isEqualTo(10);
  }

  @Test
  void unknownAnswerSaysNothing() {
    disk.issued(2, 10, 10);
    assertThat(disk.answered(2, 9)).isEqualTo(-1);
    assertThat(disk.answered(1, 10)).isEqualTo(-1);
    assertThat(disk.isEmpty()).isFalse();
  }

  @Test
  void countsTheTimeTheDiskOwesAnAnswer() {
    disk.tick();
    disk.issued(2, 1, 1);
    disk.tick();
    disk.tick();
    assertThat(disk.ticksWithoutAnswer()).isEqualTo(2);
    assertThat(disk.answered(2, 1)).isEqualTo(1);
    assertThat(disk.ticksWithoutAnswer()).isZero();
  }
}
