package io.troupe.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ScaleRoundsTest {
  private static ScalePoint put(int size, double p50, double p99) {
    return new ScalePoint("put", ScalePoint.MS, size, p50, p99);
  }

  private static ScalePoint memory(int size, double value) {
    return new ScalePoint("resident memory", ScalePoint.MIB, size, value, Double.NaN);
  }

  private static ScaleRounds threeRounds() {
    ScaleRounds rounds = new ScaleRounds();
    rounds.add("troupe", List.of(put(100, 1, 2), memory(100, 300), put(900, 1, 3)));
    // A slow round: both sizes take four times as long.
    rounds.add("troupe", List.of(put(100, 4, 8), memory(100, 310), put(900, 4, 12)));
    // One slow request at the larger size.
    rounds.add("troupe", List.of(put(100, 1, 2), memory(100, 290), put(900, 2, 14)));
    return rounds;
  }

  @Test
  void figuresAreMediansOfTheRounds() {
    assertThat(threeRounds().medians())
        .containsOnlyKeys("troupe")
        .hasEntrySatisfying(
            "troupe",
            points ->
                assertThat(points)
                    .containsExactly(put(100, 1, 2), memory(100, 300), put(900, 2, 12)));
  }

  @Test
  void growthComparesSizesOfTheSameRound() {
    assertThat(threeRounds().growth())
        .isEqualTo(
            """
            | p99 / p99 at the smallest size | server |                 900 |
            | ------------------------------ | -----: | ------------------: |
            | put                            | troupe | 1.50 (1.50 to 7.00) |
            """);
  }

  @Test
  void oneRoundHasNoRangeAndOneSizeNoGrowth() {
    ScaleRounds rounds = new ScaleRounds();
    rounds.add("etcd", List.of(put(100, 1, 2)));
    assertThat(rounds.growth()).isEmpty();
    rounds = new ScaleRounds();
    rounds.add("etcd", List.of(put(100, 1, 2), put(900, 1, 5)));
    assertThat(rounds.growth()).endsWith("| put                            |   etcd | 2.50 |\n");
  }
}
