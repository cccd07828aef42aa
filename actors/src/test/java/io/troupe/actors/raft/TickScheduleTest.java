package io.troupe.actors.raft;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Ticks of 100 ms that begin at 1000 ms. */
class TickScheduleTest {
  private final TickSchedule pace = new TickSchedule(Duration.ofMillis(100), 1000_000_000);

  private long untilNext(long atMs) {
    return pace.untilNext(atMs * 1_000_000).toMillis();
  }

  @Test
  void latenessDoesNotAccumulate() {
    assertThat(untilNext(1110)).isEqualTo(90);
    assertThat(untilNext(1210)).isEqualTo(90);
    assertThat(untilNext(1300)).as("on time").isEqualTo(100);
    assertThat(untilNext(1450)).as("late by half a tick").isEqualTo(50);
    assertThat(untilNext(1500)).isEqualTo(100);
  }

  /** A timer that is always 10 ms late: fifty ticks are 5 s (M5), not 5.5 s. */
  @Test
  void fiftyTicksLastAsLongAsFiftyTicks() {
    long nowMs = 1000;
    long delayMs = 100;
    for (int tick = 0; tick < 50; tick++) {
      nowMs += delayMs + 10;
      delayMs = untilNext(nowMs);
    }
    assertThat(nowMs).isEqualTo(1000 + 50 * 100 + 10);
  }

  @Test
  void missedTicksAreSkipped() {
    assertThat(untilNext(9123)).as("after a pause of eight seconds").isEqualTo(100);
    assertThat(untilNext(9223)).isEqualTo(100);
    assertThat(untilNext(9374)).as("late by more than half a tick").isEqualTo(100);
    assertThat(untilNext(9480)).isEqualTo(94);
  }
}
