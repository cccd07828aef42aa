package io.troupe.simulation;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The seeds after those of {@link ManySeedsTest}, in a process of their own. */
@Tag("full")
class LastSeedsTest {
  @Test
  void rulesHoldUnderFaultsAndClusterRecovers() {
    long before = SimulationTest.SEEDS + ManySeedsTest.SEEDS;
    SimulationTest.rulesHold(before + 1, ManySeedsTest.SEEDS);
  }
}
