package io.troupe.simulation;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The seeds after those of {@link SimulationTest}. */
@Tag("full")
class ManySeedsTest {
  private static final long SEEDS = 240;

  @Test
  void rulesHoldUnderFaultsAndClusterRecovers() {
    SimulationTest.rulesHold(SimulationTest.SEEDS + 1, SEEDS);
  }
}
