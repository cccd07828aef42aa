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
}
