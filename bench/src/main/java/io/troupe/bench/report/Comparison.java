package io.troupe.bench.report;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Tables of the figures of one server or two. */
public final class Comparison {
  private Comparison() {}

  /** The figures of one server. */
  public static String single(List<Cell> cells) {
    MarkdownTable table =
        new MarkdownTable(
            "profile",
            "load",
            "count",
            "ops/s",
            "p50 ms",
            "p99 ms",
            "p99.9 ms",
            "max ms",
            "errors",
            "CPU-s/100k",
            "RSS MiB",
            "client CPU-s/100k",
            "other cores");
    for (Cell cell : cells) {
      table.row(
          cell.profile(),
          cell.load(),
          Figures.count((double) cell.count()),
          Figures.count(cell.opsPerSecond()),
          Figures.number(cell.latency().p50()),
          Figures.number(cell.latency().p99()),
          Figures.number(cell.latency().p999()),
          Figures.number(cell.latency().max()),
          Long.toString(cell.errors()),
          Figures.number(cell.serverCpuPer100k()),
          Figures.mebibytes(cell.serverRssBytes()),
          Figures.number(cell.clientCpuPer100k()),
          Figures.number(cell.otherCores()));
    }
    return table.toString();
  }

  /**
   * The figures of both and the ratios second / first. Measurements that only one of them has are
   * omitted.
   *
   * @param first medians of the reference server
   * @param second medians of the compared server
   */
  public static String sideBySide(
      String firstName, List<Cell> first, String secondName, List<Cell> second) {
    Map<String, Cell> others = new LinkedHashMap<>();
    second.forEach(cell -> others.put(Medians.key(cell), cell));
    MarkdownTable table =
        new MarkdownTable(
            "profile",
            "load",
            firstName + " ops/s",
            secondName + " ops/s",
            "ratio",
            firstName + " p50/p99 ms",
            secondName + " p50/p99 ms",
            "p99 ratio",
            firstName + " CPU-s/100k",
            secondName + " CPU-s/100k",
            "CPU ratio",
            "RSS MiB",
            "errors",
            "other cores");
    for (Cell a : first) {
      Cell b = others.get(Medians.key(a));
      if (b != null) {
        row(table, a, b);
      }
    }
    return table.toString();
  }

  private static void row(MarkdownTable table, Cell a, Cell b) {
    table.row(
        a.profile(),
        a.load(),
        Figures.count(a.opsPerSecond()),
        Figures.count(b.opsPerSecond()),
        Figures.ratio(b.opsPerSecond(), a.opsPerSecond()),
        Figures.number(a.latency().p50()) + " / " + Figures.number(a.latency().p99()),
        Figures.number(b.latency().p50()) + " / " + Figures.number(b.latency().p99()),
        Figures.ratio(b.latency().p99(), a.latency().p99()),
        Figures.number(a.serverCpuPer100k()),
        Figures.number(b.serverCpuPer100k()),
        Figures.ratio(b.serverCpuPer100k(), a.serverCpuPer100k()),
        Figures.mebibytes(a.serverRssBytes()) + " / " + Figures.mebibytes(b.serverRssBytes()),
        a.errors() + " / " + b.errors(),
        Figures.number(a.otherCores()) + " / " + Figures.number(b.otherCores()));
  }
}
