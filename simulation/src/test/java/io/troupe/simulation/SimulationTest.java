package io.troupe.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.simulation.world.Coverage;
import org.junit.jupiter.api.Test;

/**
 * Seeded clusters under faults. {@code -Dtroupe.sim.seed=N} repeats one seed, {@code
 * -Dtroupe.sim.seeds=N} sets the number of seeds, {@code -Dtroupe.sim.firstSeed=N} sets the first
 * one.
 */
class SimulationTest {
  /** Seeds of a plain build, from 1 on. */
  static final long SEEDS = 80;

  private static final int FAULT_SECONDS = 10;

  @Test
  void rulesHoldUnderFaultsAndClusterRecovers() {
    Long only = Long.getLong("troupe.sim.seed");
    long first = only == null ? Long.getLong("troupe.sim.firstSeed", 1L) : only;
    long count = only == null ? Long.getLong("troupe.sim.seeds", SEEDS) : 1;
    rulesHold(first, count);
  }

  /** Runs the seeds from {@code first} on; checks that the faults occurred if there are many. */
  static void rulesHold(long first, long count) {
    Coverage coverage = new Coverage();
    System.out.printf("simulation: seeds %d to %d%n", first, first + count - 1);
    for (long seed = first; seed < first + count; seed++) {
      coverage.add(Simulation.run(seed, FAULT_SECONDS, false).coverage());
    }
    coverage.all().forEach((what, times) -> System.out.printf("  %-50s %d%n", what, times));
    if (count >= SEEDS) {
      // The runs prove something only if faults occurred in them.
      for (String what :
          new String[] {
            "elections won",
            "crashes",
            "hashes of compactions compared",
            "removals awaited",
            "unforced writes lost",
            "log truncations",
            "snapshots installed",
            "membership entries committed",
            "lease expiries proposed",
            "leases taken over by a leader",
            "checkpoints of leases proposed",
            "checkpoints of leases forgotten",
            "leases counted from a checkpoint",
            "forwarded renewals",
            "numbers for followers",
            "renewals that wait for a follower's request",
            "watchers resumed",
            "watchers that returned to history",
            "watchers canceled by compaction",
            "revisions too large to list",
            "revisions missed by the watch hub",
            "missed revisions joined to a report",
            "reads refused for memory",
            "responses to writes refused for memory",
            "watchers refused for memory",
            "watch streams held back for memory",
            "watch history reads delayed for memory",
            "pauses",
            "disk stalls",
            "cluster versions raised",
            "cluster versions lowered",
            "downgrades canceled",
            "starts refused because of versions",
            "calls without an answer"
          }) {
        assertThat(coverage.of(what)).as(what).isGreaterThan(10);
      }
      assertThat(coverage.of("calls answered")).isGreaterThan(1000 * count);
      assertThat(coverage.of("histories that could not be decided")).isZero();
    }
  }

  @Test
  void sameSeedGivesSameTrace() {
    for (long seed = 1001; seed <= 1002; seed++) {
      Simulation.Outcome once = Simulation.run(seed, 4, true);
      Simulation.Outcome again = Simulation.run(seed, 4, true);
      assertThat(again.traceHash()).as("seed %d", seed).isEqualTo(once.traceHash());
      assertThat(again.coverage().all()).isEqualTo(once.coverage().all());
      Simulation.Outcome other = Simulation.run(seed + 100, 4, true);
      assertThat(other.traceHash()).isNotEqualTo(once.traceHash());
    }
  }
}
