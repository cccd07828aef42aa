package io.troupe.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  private static Cell cell(String profile, double ops, double p99, double cpu) {
    return new Cell(
        profile, "10 clients", 7, ops, new Latency(0.5, p99, p99, p99), 1, cpu, 100 << 20, 2, 0.1);
  }

  @Test
  void percentilesAreConvertedToMilliseconds() {
    Histogram nanos = new Histogram(3);
    for (int i = 1; i <= 1000; i++) {
      nanos.recordValue(i * 1_000_000L);
    }
    Latency latency = Latency.of(nanos);
    assertThat(latency.p50()).isBetween(499.0, 501.0);
    assertThat(latency.p99()).isBetween(989.0, 991.0);
    assertThat(latency.max()).isBetween(999.0, 1001.0);
    assertThat(Latency.of(new Histogram(3)).p99()).isNaN();
  }

  @Test
  void mergesMediansSumOfErrorsAndMaximumNoise() {
    List<Cell> medians =
        Medians.of(
            List.of(
                cell("put", 10, 3, 1),
                cell("txn", 1, 1, 1),
                cell("put", 30, 1, 3),
                cell("put", 20, 2, Double.NaN)));
    assertThat(medians).hasSize(2);
    Cell put = medians.get(0);
    assertThat(put.opsPerSecond()).isEqualTo(20);
    assertThat(put.latency().p99()).isEqualTo(2);
    assertThat(put.serverCpuPer100k()).isEqualTo(2);
    assertThat(put.errors()).isEqualTo(3);
    assertThat(Medians.median()).isNaN();
  }

  @Test
  void ratiosAreSecondOverFirst() {
    String table =
        Comparison.sideBySide(
            "etcd",
            List.of(cell("put", 20_000, 4, 2), cell("txn", 1, 1, 1)),
            "troupe",
            List.of(cell("put", 30_000, 2, 3)));
    String[] lines = table.split("\n", -1);
    assertThat(lines).hasSize(4);
    assertThat(lines[2].replaceAll(" +", " "))
        .isEqualTo(
            "| put | 10 clients | 20,000 | 30,000 | 1.50 | 0.50 / 4.00 | 0.50 / 2.00 | 0.50 | 2.00 | 3.00 | 1.50 | 100 / 100 | 1 / 1 | 0.10 / 0.10 |");
  }

  @Test
  void unknownFiguresAreShownAsDash() {
    assertThat(Figures.number(Double.NaN)).isEqualTo("-");
    assertThat(Figures.ratio(1, 0)).isEqualTo("-");
    assertThat(Figures.mebibytes(-1)).isEqualTo("-");
    assertThat(Figures.count(1234567.4)).isEqualTo("1,234,567");
    assertThat(Figures.number(12.345)).isEqualTo("12.3");
  }

  @Test
  void rowsHaveAsManyCellsAsTheHeader() {
    assertThatThrownBy(() -> new MarkdownTable("a", "b").row("1"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
