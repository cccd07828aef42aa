package io.troupe.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static Cell cell(String load, double perSecond, double p50, double cpu) {
    return new Cell(
        "put", load, 1, perSecond, new Latency(p50, 2 * p50, 0, 0), 1, cpu, -1, 0.5, Double.NaN);
  }

  @Test
  void turnsAreComparedWithTheirNeighbours() {
    Turns turns = new Turns(List.of("a", "b"));
    // The machine becomes slower; b is a quarter faster, except in one turn.
    for (int turn = 1; turn <= 5; turn++) {
      double speed = 1000.0 / turn;
      double faster = turn == 3 ? 0.5 : 1.25;
      turns.add("a", List.of(cell("1 client", speed, turn, 10), cell("9 clients", speed, 1, 1)));
      turns.add("b", List.of(cell("1 client", speed * faster, turn * 0.8, 8)));
    }
    assertThat(turns.markdown().lines().skip(2))
        .map(line -> line.replaceAll(" +", " "))
        .containsExactly(
            "| put | 1 client | a | 333 | | 3.00 | | 6.00 | | 10.0 | | 0.50 | 5 |",
            "| put | 1 client | b | 313 | 1.25 (1.25 to 1.25) | 2.40 | 0.80 (0.80 to 0.80) | 4.80"
                + " | 0.80 (0.80 to 0.80) | 8.00 | 0.80 (0.80 to 0.80) | 0.50 | 5 |",
            "| put | 9 clients | a | 333 | | 1.00 | | 2.00 | | 1.00 | | 0.50 | 5 |");
  }

  @Test
  void quartilesShowTheSpread() {
    Turns turns = new Turns(List.of("a", "b"));
    for (int turn = 1; turn <= 8; turn++) {
      turns.add("a", List.of(cell("", 100, 1, 1)));
      turns.add("b", List.of(cell("", 100.0 * turn, 1, 1)));
    }
    assertThat(turns.markdown()).contains(" 4.50 (3.00 to 6.00) ");
  }
}
