package io.troupe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LogExtentTest {
  /** The third segment has no entries, the fourth replaces entries of the second. */
  private final LogExtent log =
      new LogExtent(
          List.of(
              new LogExtent.Segment(10, 100),
              new LogExtent.Segment(30, 50),
              new LogExtent.Segment(0, 5),
              new LogExtent.Segment(25, 20)),
          7);

  @Test
  void bytesAfterCountsWholeSegments() {
    assertThat(log.bytesAfter(0)).isEqualTo(182);
    assertThat(log.bytesAfter(9)).isEqualTo(182);
    assertThat(log.bytesAfter(10)).isEqualTo(82);
    assertThat(log.bytesAfter(29)).isEqualTo(82);
    assertThat(log.bytesAfter(30)).isEqualTo(7);
    assertThat(log.segmentsAfter(10)).isEqualTo(4);
    assertThat(log.segmentsAfter(30)).isEqualTo(1);
  }

  @Test
  void lastIndexOutsideReturnsIndexToRemove() {
    assertThat(log.lastIndexOutside(182)).isZero();
    assertThat(log.lastIndexOutside(181)).isEqualTo(10);
    assertThat(log.lastIndexOutside(82)).isEqualTo(10);
    assertThat(log.lastIndexOutside(81)).isEqualTo(30);
    assertThat(log.lastIndexOutside(0)).isEqualTo(30);
  }
}
