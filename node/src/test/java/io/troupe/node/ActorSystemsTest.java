package io.troupe.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActorSystemsTest {
  @ParameterizedTest
  @CsvSource({"1, 1", "10, 2", "50, 10", "100, 20", "1000, 20"})
  void timersAreFinerThanHeartbeats(long heartbeatMs, long resolutionMs) {
    assertThat(ActorSystems.timerResolution(Duration.ofMillis(heartbeatMs)))
        .isEqualTo(Duration.ofMillis(resolutionMs));
  }
}
