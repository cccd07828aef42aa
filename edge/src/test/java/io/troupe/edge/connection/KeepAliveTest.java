package io.troupe.edge.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** T4: pings of the server, in the form of the HTTP layer. */
class KeepAliveTest {
  private static final Duration MIN = Duration.ofSeconds(5);

  @ParameterizedTest
  @CsvSource({
    // interval, timeout, and the converted times, in ms
    "30000, 15000, 30000, 7500",
    "7200000, 20000, 7200000, 10000",
    "30000, 20000, 30000, 10000",
    "10000, 20000, 20000, 10000",
    "100000, 30000, 105000, 15000",
    "1, 1, 2, 1",
    "7, 2, 7, 1"
  })
  void timesAreConvertedToChecksOfHttpLayer(long interval, long timeout, long even, long check) {
    KeepAlive asked = new KeepAlive(MIN, Duration.ofMillis(interval), Duration.ofMillis(timeout));
    assertThat(asked.even())
        .isEqualTo(new KeepAlive(MIN, Duration.ofMillis(even), Duration.ofMillis(check)));
  }

  @Test
  void zeroIntervalOrTimeoutDisablesPings() {
    KeepAlive never = new KeepAlive(MIN, Duration.ZERO, Duration.ofSeconds(20));
    assertThat(never.pings()).isFalse();
    assertThat(never.even().interval()).isZero();
    KeepAlive without = new KeepAlive(MIN, Duration.ofSeconds(20), Duration.ZERO);
    assertThat(without.pings()).isFalse();
    assertThat(without.even().interval()).isZero();
  }
}
