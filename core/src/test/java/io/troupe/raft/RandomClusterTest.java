package io.troupe.raft;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Seeded clusters of one, three and five voters under loss, repetition, reordering, partitions and
 * crashes that lose unforced writes, with changes of membership, transfers, compaction and
 * snapshots. {@code -Draft.seed=N} runs one seed, {@code -Draft.seeds=N} another number of them.
 */
class RandomClusterTest {
  private static final int STEPS = 1200;

  @Test
  void rulesHoldUnderFaultsAndProgressResumes() {
    Long only = Long.getLong("raft.seed");
    long first = only == null ? Long.getLong("raft.firstSeed", 1L) : only;
    long count = only == null ? Long.getLong("raft.seeds", 1500L) : 1;
    long elections = 0;
    long acknowledged = 0;
    long reads = 0;
    long changes = 0;
    long snapshots = 0;
    long logReads = 0;
    for (long seed = first; seed < first + count; seed++) {
      SimCluster cluster = run(seed);
      elections += cluster.elections;
      acknowledged += cluster.acknowledged;
      reads += cluster.releases;
      changes += cluster.changes();
      snapshots += cluster.snapshots;
      logReads += cluster.logReads;
    }
    System.out.printf(
        "raft random clusters: seeds=%d..%d elections=%d acknowledged=%d reads=%d memberships=%d"
            + " snapshots=%d log-reads=%d%n",
        first, first + count - 1, elections, acknowledged, reads, changes, snapshots, logReads);
    // The runs are useful only if events happened in them.
    assertThat(elections).isGreaterThan(count);
    assertThat(acknowledged).isGreaterThan(10 * count);
    assertThat(reads).isGreaterThan(5 * count);
    if (only == null) {
      assertThat(changes).isGreaterThan(count);
      assertThat(snapshots).isGreaterThan(count / 10);
      assertThat(logReads).isGreaterThan(count / 10);
    }
  }

  private static SimCluster run(long seed) {
    try {
      RandomCluster world = new RandomCluster(seed);
      // Some runs continue for long enough to see several changes of the membership.
      world.run(seed % 10 == 0 ? 4 * STEPS : STEPS);
      return world.cluster;
    } catch (RuntimeException e) {
      throw new AssertionError("raft.seed=" + seed + ": " + e.getMessage(), e);
    }
  }
}
