package io.troupe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WalProgressTest {
  private final WalProgress progress = new WalProgress();

  @Test
  void nothingIsPendingWithoutAnOperation() {
    assertThat(progress.pendingOperation()).isZero();
    assertThat(progress.pendingNanos(1_000)).isZero();
    progress.started(100);
    progress.completed();
    assertThat(progress.pendingOperation()).isZero();
    assertThat(progress.pendingNanos(1_000)).isZero();
  }

  @Test
  void pendingOperationKeepsItsNumberAndAges() {
    progress.started(100);
    long first = progress.pendingOperation();
    assertThat(first).isPositive();
    assertThat(progress.pendingNanos(100)).isZero();
    assertThat(progress.pendingNanos(350)).isEqualTo(250);
    assertThat(progress.pendingOperation()).isEqualTo(first);
  }

  @Test
  void nextOperationHasAnotherNumber() {
    progress.started(100);
    long first = progress.pendingOperation();
    progress.completed();
    progress.started(200);
    assertThat(progress.pendingOperation()).isPositive().isNotEqualTo(first);
    assertThat(progress.pendingNanos(250)).isEqualTo(50);
  }
}
