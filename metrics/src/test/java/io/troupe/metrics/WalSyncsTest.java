package io.troupe.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.troupe.metrics.WalSyncs.Sync;
import org.junit.jupiter.api.Test;

/** Finds the forced write that made an entry durable. */
class WalSyncsTest {
  private final WalSyncs syncs = new WalSyncs();

  @Test
  void returnsFirstSyncThatCoversEntry() {
    syncs.add(3, 10, 11);
    syncs.add(7, 20, 22);
    syncs.add(8, 30, 33);
    assertThat(syncs.find(1)).isEqualTo(new Sync(10, 11));
    assertThat(syncs.find(3)).isEqualTo(new Sync(10, 11));
    assertThat(syncs.find(4)).isEqualTo(new Sync(20, 22));
    assertThat(syncs.find(7)).isEqualTo(new Sync(20, 22));
    assertThat(syncs.find(8)).isEqualTo(new Sync(30, 33));
    assertThat(syncs.find(9)).as("not durable yet").isNull();
  }

  @Test
  void returnsNullWithoutSyncs() {
    assertThat(syncs.find(1)).isNull();
  }

  /** Entries of another leader replaced 5 and above. */
  @Test
  void lastSyncWinsForRewrittenIndex() {
    syncs.add(4, 10, 11);
    syncs.add(9, 20, 22);
    syncs.add(5, 30, 33);
    syncs.add(9, 40, 44);
    assertThat(syncs.find(9)).isEqualTo(new Sync(40, 44));
    assertThat(syncs.find(7)).isEqualTo(new Sync(40, 44));
  }

  @Test
  void returnsNullForOverwrittenSyncs() {
    for (int i = 1; i <= 5000; i++) {
      syncs.add(i * 2L, i, i + 1);
    }
    assertThat(syncs.find(10_000)).isEqualTo(new Sync(5000, 5001));
    assertThat(syncs.find(9_001)).isEqualTo(new Sync(4501, 4502));
    assertThat(syncs.find(2)).isNull();
    assertThat(syncs.find(100)).isNull();
  }
}
