package io.troupe.simulation.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.simulation.world.SimMember;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * A member crashes between two steps of the installation of a snapshot that contradicts its log. It
 * recovers to the old state or to the new one.
 */
class InterruptedInstallationTest {
  private static final int SEEDS = 20;

  /** More than the other members commit meanwhile: the log ends after the snapshot. */
  private static final int LOST_PUTS = 800;

  private int crashes;

  @Test
  void memberRecoversFromCrashBetweenAnyTwoSteps() {
    for (long seed = 1; seed <= SEEDS; seed++) {
      interrupt(seed);
    }
    System.out.printf("interrupted installations: crashes=%d of %d%n", crashes, SEEDS);
    assertThat(crashes).as("seeds with a crash").isGreaterThan(SEEDS / 4);
  }

  private void interrupt(long seed) {
    ScriptedCluster cluster = new ScriptedCluster(seed, 3, 0, 3);
    SimMember stranded = cluster.leader();
    cluster.pass(1);
    cluster.cutOff(Set.of(stranded));
    cluster.beginPuts(stranded, LOST_PUTS);
    cluster.pass(4);
    stranded.crashWhenInstalling(new SplittableRandom(seed));
    cluster.heal();
    cluster.pass(5);
    crashes += (int) cluster.world.coverage().of("crashes in an installation");
    assertThat(cluster.world.coverage().of("snapshots installed")).as("seed %s", seed).isPositive();
    cluster.end();
  }
}
