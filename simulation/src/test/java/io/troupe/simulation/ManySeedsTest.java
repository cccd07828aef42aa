package io.troupe.simulation;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The seeds after those of {@link SimulationTest}; {@link LastSeedsTest} runs beside it. */
@Tag("full")
class ManySeedsTest {
  static final long SEEDS = 160;

  @Test
  void rulesHoldUnderFaultsAndClusterRecovers() {
    SimulationTest.rulesHold(SimulationTest.SEEDS + 1, SEEDS);
  }
}
