package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Heartbeats at every second tick of 10 ms: two intervals are 40 ms. */
class LateHeartbeatDetectorTest {
  private final LateHeartbeatDetector pace = new LateHeartbeatDetector(2, Duration.ofMillis(10));

  private boolean isLate(long atMs) {
    return pace.isLate(atMs * 1_000_000);
  }

  @Test
  void heartbeatsAreLateAfterMoreThanTwoIntervals() {
    pace.begin(0);
    assertThat(isLate(10)).isFalse();
    assertThat(isLate(20)).as("on time").isFalse();
    assertThat(isLate(50)).as("a tick without heartbeats").isFalse();
    assertThat(isLate(60)).as("just two intervals").isFalse();
    assertThat(isLate(70)).isFalse();
    assertThat(isLate(101)).as("41 ms after the last ones").isTrue();
    assertThat(isLate(111)).isFalse();
    assertThat(isLate(121)).as("on time again").isFalse();
  }

  @Test
  void newLeadershipResetsTimes() {
    pace.begin(0);
    assertThat(isLate(10)).isFalse();
    pace.begin(1000_000_000);
    assertThat(isLate(1010)).isFalse();
    assertThat(isLate(1020)).isFalse();
  }
}
