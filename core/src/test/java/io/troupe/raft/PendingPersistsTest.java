package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.troupe.model.Invariant;
import org.junit.jupiter.api.Test;

class PendingPersistsTest {
  private final PendingPersists disk = new PendingPersists(1);

  @Test
  void replacedTailNeverCountsAsDurable() {
    long old = disk.issued(2, 10);
    disk.truncatedFrom(5);
    long newer = disk.issued(3, 7);
    assertThat(disk.answered(old)).isEqualTo(4);
    assertThat(disk.durableTerm()).isEqualTo(2);
    assertThat(disk.answered(newer)).isEqualTo(7);
    assertThat(disk.isEmpty()).isTrue();
  }

  @Test
  void oneAnswerStandsForAllBefore() {
    disk.issued(2, 5);
    disk.issued(2, 9);
    long last = disk.issued(2, 9);
    disk.issued(3, 12);
    assertThat(disk.answered(last)).isEqualTo(9);
    assertThat(disk.isEmpty()).isFalse();
    assertThat(disk.durableTerm()).isEqualTo(2);
  }

  @Test
  void answerToNothingStopsTheMember() {
    long number = disk.issued(2, 10);
    assertThatThrownBy(() -> disk.answered(number + 1)).isInstanceOf(Invariant.Broken.class);
    disk.answered(number);
    assertThatThrownBy(() -> disk.answered(number)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void whatWasWrittenBeforeASnapshotProvesNothing() {
    long before = disk.issued(2, 30);
    long install = disk.installIssued(2, 20);
    long after = disk.issued(2, 21);
    assertThat(disk.answered(before)).isZero();
    assertThat(disk.isInstalling()).isTrue();
    assertThat(disk.answered(install)).isEqualTo(20);
    assertThat(disk.isInstalling()).isFalse();
    assertThat(disk.answered(after)).isEqualTo(21);
  }

  @Test
  void countsTheTimeTheDiskOwesAnAnswer() {
    disk.tick();
    long number = disk.issued(2, 1);
    disk.tick();
    disk.tick();
    assertThat(disk.ticksWithoutAnswer()).isEqualTo(2);
    assertThat(disk.answered(number)).isEqualTo(1);
    assertThat(disk.ticksWithoutAnswer()).isZero();
  }
}
