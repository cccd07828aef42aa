package io.troupe.mvcc;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@link StoreModelDriver} over the store in memory. */
class StoreModelTest {
  @ParameterizedTest
  @CsvSource({"1", "3", "17", "1000"})
  void agreesWithNaiveModel_R1toR9_G1toG10_P_D_X_C_L9(int commitEvery) {
    int sameCompactions = 0;
    int blocks = 0;
    int readsInMemory = 0;
    for (long seed = 1; seed <= 25; seed++) {
      StoreModelDriver driver =
          new StoreModelDriver(InMemoryOrderedStore::new, 1000L * commitEvery + seed);
      driver.run(400, commitEvery);
      sameCompactions += driver.sameCompactions();
      readsInMemory += driver.readsInMemory();
      blocks = Math.max(blocks, driver.blocksSeen());
    }
    if (commitEvery < 10) {
      assertThat(blocks).as("most blocks of live keys").isGreaterThan(3);
      assertThat(readsInMemory).as("ranges whose result was in memory").isGreaterThan(100);
    }
    assertThat(sameCompactions).as("MT6: compactions whose hashes were compared").isPositive();
  }

  /** Also with crashes between the batches of one entry, and with none of its events kept. */
  @ParameterizedTest
  @CsvSource({"1, 1, 1", "1, 150, 500", "3, 150, 1", "17, 1, 400"})
  void entriesWrittenInSeveralBatchesReachSameState(
      int commitEvery, long batchBytes, long eventBytes) {
    int crashes = 0;
    for (long seed = 1; seed <= 20; seed++) {
      StoreModelDriver driver =
          new StoreModelDriver(
              InMemoryOrderedStore::new,
              7000L * commitEvery + seed,
              new EntryBounds(batchBytes, 2, eventBytes));
      driver.run(300, commitEvery);
      crashes += driver.crashesInsideEntries();
    }
    assertThat(crashes).as("crashes that left a part of an entry").isGreaterThan(5);
  }
}
