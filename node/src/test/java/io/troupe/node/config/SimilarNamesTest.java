package io.troupe.node.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SimilarNamesTest {
  @ParameterizedTest
  @CsvSource({
    "troupe, troupe, 0",
    "tropue, troupe, 1",
    "troup, troupe, 1",
    "ttroupe, troupe, 1",
    "trouqe, troupe, 1",
    "group, troupe, 2",
    "'', troupe, 6",
  })
  void distanceCountsEdits(String one, String other, int distance) {
    assertThat(SimilarNames.distance(one, other)).isEqualTo(distance);
    assertThat(SimilarNames.distance(other, one)).isEqualTo(distance);
  }

  @Test
  void closestNameIsFoundOnlyIfSimilar() {
    List<String> known = List.of("name", "data-dir", "wal-dir");
    assertThat(SimilarNames.closest("nmae", known)).contains("name");
    assertThat(SimilarNames.closest("dta-dir", known)).contains("data-dir");
    assertThat(SimilarNames.closest("quota", known)).isEmpty();
  }
}
