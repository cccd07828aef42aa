package io.troupe.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/** Medians of the same measurement over several rounds, figure by figure. */
public final class Medians {
  private Medians() {}

  /**
   * One cell for each profile and load, in the order of their first appearance. Errors are summed
   * up, and the maximum of the noise is kept.
   */
  public static List<Cell> of(List<Cell> rounds) {
    Map<String, List<Cell>> groups = new LinkedHashMap<>();
    for (Cell cell : rounds) {
      groups.computeIfAbsent(key(cell), k -> new ArrayList<>()).add(cell);
    }
    return groups.values().stream().map(Medians::merge).toList();
  }

  /** The common key of cells of the same measurement. */
  static String key(Cell cell) {
    return cell.profile() + " | " + cell.load();
  }

  private static Cell merge(List<Cell> cells) {
    Cell first = cells.get(0);
    Latency latency =
        new Latency(
            median(cells, c -> c.latency().p50()),
            median(cells, c -> c.latency().p99()),
            median(cells, c -> c.latency().p999()),
            median(cells, c -> c.latency().max()));
    return new Cell(
        first.profile(),
        first.load(),
        Math.round(median(cells, Cell::count)),
        median(cells, Cell::opsPerSecond),
        latency,
        cells.stream().mapToLong(Cell::errors).sum(),
        median(cells, Cell::serverCpuPer100k),
        Math.round(median(cells, Cell::serverRssBytes)),
        median(cells, Cell::clientCpuPer100k),
        cells.stream().mapToDouble(Cell::otherCores).max().orElse(Double.NaN));
  }

  private static double median(List<Cell> cells, ToDoubleFunction<Cell> figure) {
    return median(cells.stream().mapToDouble(figure).toArray());
  }

  /**
   * The middle value, or the mean of the two in the middle; NaN without values. NaN values are
   * ignored.
   */
  public static double median(double... values) {
    double[] sorted =
        java.util.Arrays.stream(values).filter(v -> !Double.isNaN(v)).sorted().toArray();
    if (sorted.length == 0) {
      return Double.NaN;
    }
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}
