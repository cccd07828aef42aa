package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.bench.server.ProcessUsage;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.junit.jupiter.api.Test;

class MeterTest {
  /** CPU seconds at the two ends of three periods of a second: busy, busy, idle. */
  private final Iterator<Double> cpu = List.of(0.0, 1.5, 1.5, 1.9, 1.9, 1.95).iterator();

  private final Meter meter = new Meter(() -> new ProcessUsage(cpu.next(), 0, 0));

  @Test
  void waitsForIdleServer() {
    meter.awaitIdleServer(Duration.ofMinutes(1));
    assertThat(cpu.hasNext()).isFalse();
  }

  @Test
  void waitsForIdleServerAtMostThatLong() {
    meter.awaitIdleServer(Duration.ofMillis(1100));
    assertThat(cpu.next()).as("after two periods").isEqualTo(1.9);
  }
}
