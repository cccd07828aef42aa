package io.troupe.grpc.service;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LineLimitTest {
  @Test
  void oneInEachIntervalAndItSaysHowManyWereNot() {
    LineLimit limit = new LineLimit(100);
    assertThat(limit.admit(-5)).isZero();
    assertThat(limit.admit(0)).isEqualTo(LineLimit.SUPPRESSED);
    assertThat(limit.admit(94)).isEqualTo(LineLimit.SUPPRESSED);
    assertThat(limit.admit(95)).isEqualTo(2);
    assertThat(limit.admit(195)).isZero();
  }

  @Test
  void someAtOnceAndThenOneInEachInterval() {
    LineLimit limit = new LineLimit(100, 3);
    for (int i = 0; i < 3; i++) {
      assertThat(limit.admit(7)).isZero();
    }
    assertThat(limit.admit(7)).isEqualTo(LineLimit.SUPPRESSED);
    assertThat(limit.admit(106)).isEqualTo(LineLimit.SUPPRESSED);
    assertThat(limit.admit(107)).isEqualTo(2);
    assertThat(limit.admit(107)).isEqualTo(LineLimit.SUPPRESSED);
    // After silence as many as at first, and no more.
    assertThat(limit.admit(10_000)).isEqualTo(1);
    assertThat(limit.admit(10_000)).isZero();
    assertThat(limit.admit(10_000)).isZero();
    assertThat(limit.admit(10_000)).isEqualTo(LineLimit.SUPPRESSED);
  }
}
