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
    assertThat(disk.completed(old)).isEqualTo(4);
    assertThat(disk.durableTerm()).isEqualTo(2);
    assertThat(disk.completed(newer)).isEqualTo(7);
    assertThat(disk.isEmpty()).isTrue();
  }

  @Test
  void completionCoversAllEarlierPersists() {
    disk.issued(2, 5);
    disk.issued(2, 9);
    long last = disk.issued(2, 9);
    disk.issued(3, 12);
    assertThat(disk.completed(last)).isEqualTo(9);
    assertThat(disk.isEmpty()).isFalse();
    assertThat(disk.durableTerm()).isEqualTo(2);
  }

  @Test
  void unknownCompletionStopsMember() {
    long number = disk.issued(2, 10);
    assertThatThrownBy(() -> disk.completed(number + 1)).isInstanceOf(Invariant.Broken.class);
    disk.completed(number);
    assertThatThrownBy(() -> disk.completed(number)).isInstanceOf(Invariant.Broken.class);
  }

  @Test
  void writesBeforeSnapshotProveNothing() {
    long before = disk.issued(2, 30);
    long install = disk.installIssued(2, 20);
    long after = disk.issued(2, 21);
    assertThat(disk.completed(before)).isZero();
    assertThat(disk.isInstalling()).isTrue();
    assertThat(disk.completed(install)).isEqualTo(20);
    assertThat(disk.isInstalling()).isFalse();
    assertThat(disk.completed(after)).isEqualTo(21);
  }

  @Test
  void countsTicksWithoutCompletion() {
    disk.tick();
    long number = disk.issued(2, 1);
    disk.tick();
    disk.tick();
    assertThat(disk.ticksWithoutCompletion()).isEqualTo(2);
    assertThat(disk.completed(number)).isEqualTo(1);
    assertThat(disk.ticksWithoutCompletion()).isZero();
  }
}
