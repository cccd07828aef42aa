package io.troupe.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class EventLeasesTest {
  private final EventLeases leases = new EventLeases(11, 0);

  @Test
  void oneCallerGrantsNextLeaseAfterThousandObjects() {
    for (int i = 0; i < EventLeases.MAX_OBJECTS; i++) {
      assertThat(leases.use(1)).isEqualTo(11);
    }
    assertThat(leases.use(1)).isZero();
    assertThat(leases.use(1)).isEqualTo(11);
    leases.granted(12, 2);
    assertThat(leases.use(2)).isEqualTo(12);
  }

  @Test
  void leaseIsUsedForOneMinute() {
    assertThat(leases.use(TimeUnit.SECONDS.toNanos(60) - 1)).isEqualTo(11);
    assertThat(leases.use(TimeUnit.SECONDS.toNanos(60))).isZero();
  }

  @Test
  void failedGrantIsRepeatedByNextCaller() {
    assertThat(leases.use(TimeUnit.SECONDS.toNanos(61))).isZero();
    leases.failed();
    assertThat(leases.use(TimeUnit.SECONDS.toNanos(61))).isZero();
  }
}
