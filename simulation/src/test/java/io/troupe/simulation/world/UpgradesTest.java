package io.troupe.simulation.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Tests what the operator who replaces programs leaves behind. */
class UpgradesTest {
  private static final int SEEDS = 200;
  private static final long STEP_US = 100_000;
  private static final int MOST_STEPS = 600;

  @Test
  void settledClusterKeepsItsPrograms() {
    int checked = 0;
    for (long seed = 1; seed <= SEEDS; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      SimSettings settings = SimSettings.draw(random.split(), 1);
      if (settings.versions().change()) {
        settledClusterKeepsItsPrograms(seed, settings, random);
        checked++;
      }
    }
    assertThat(checked).isGreaterThan(SEEDS / 3);
  }

  private static void settledClusterKeepsItsPrograms(
      long seed, SimSettings settings, SplittableRandom random) {
    SimWorld world = new SimWorld(settings, random.split(), false);
    world.start();
    Upgrades upgrades = new Upgrades(world, random.split());
    upgrades.start();
    pass(world, 1_000_000 + random.nextInt(1_000_000));
    upgrades.finish();
    for (int i = 0; i < MOST_STEPS && !upgrades.isSettled(); i++) {
      pass(world, STEP_US);
    }
    String settled = upgrades.status();
    assertThat(upgrades.isSettled()).as("seed %d settles: %s", seed, settled).isTrue();
    pass(world, 1_000_000);
    assertThat(upgrades.isSettled())
        .as("seed %d stays settled: %s, then %s", seed, settled, upgrades.status())
        .isTrue();
  }

  private static void pass(SimWorld world, long us) {
    world.scheduler().runUntil(world.scheduler().nowUs() + us);
  }
}
