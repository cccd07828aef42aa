package io.troupe.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The measurements of servers that take the load in turn. The n-th turn of a server is compared
 * with the n-th of the first server, which is its neighbour in time. Used by one thread.
 */
public final class Turns {
  private final List<String> servers;

  /** By profile and load, then by server: the turns in their order. */
  private final Map<List<String>, Map<String, List<Cell>>> turns = new LinkedHashMap<>();

  /**
   * Creates an empty collection.
   *
   * @param servers names, in the order of the table; the others are compared with the first
   */
  public Turns(List<String> servers) {
    this.servers = List.copyOf(servers);
  }

  /** Adds the cells of a server's turn. */
  public void add(String server, List<Cell> cells) {
    for (Cell cell : cells) {
      turns
          .computeIfAbsent(List.of(cell.profile(), cell.load()), key -> new LinkedHashMap<>())
          .computeIfAbsent(server, key -> new ArrayList<>())
          .add(cell);
    }
  }

  /** A table with a row for each profile, load and server. */
  public String markdown() {
    MarkdownTable table =
        new MarkdownTable(
            "profile",
            "load",
            "server",
            "ops/s",
            "ratio",
            "p50 ms",
            "ratio",
            "p99 ms",
            "ratio",
            "CPU-s/100k",
            "ratio",
            "client CPU-s/100k",
            "errors");
    turns.forEach(
        (key, byServer) -> {
          List<Cell> first = byServer.getOrDefault(servers.get(0), List.of());
          for (String server : servers) {
            List<Cell> cells = byServer.get(server);
            if (cells != null) {
              row(table, key, server, cells, first);
            }
          }
        });
    return table.toString();
  }

  private static void row(
      MarkdownTable table, List<String> key, String server, List<Cell> cells, List<Cell> first) {
    Cell medians = Medians.of(cells).get(0);
    table.row(
        key.get(0),
        key.get(1),
        server,
        Figures.count(medians.opsPerSecond()),
        ratio(cells, first, Cell::opsPerSecond),
        Figures.number(medians.latency().p50()),
        ratio(cells, first, cell -> cell.latency().p50()),
        Figures.number(medians.latency().p99()),
        ratio(cells, first, cell -> cell.latency().p99()),
        Figures.number(medians.serverCpuPer100k()),
        ratio(cells, first, Cell::serverCpuPer100k),
        Figures.number(medians.clientCpuPer100k()),
        Long.toString(medians.errors()));
  }

  /** Median of the ratios of the turns, with their quartiles. */
  private static String ratio(List<Cell> cells, List<Cell> first, ToDoubleFunction<Cell> figure) {
    if (cells == first) {
      return "";
    }
    double[] ratios =
        IntStream.range(0, Math.min(cells.size(), first.size()))
            .mapToDouble(
                i -> figure.applyAsDouble(cells.get(i)) / figure.applyAsDouble(first.get(i)))
            .sorted()
            .toArray();
    int quarter = ratios.length / 4;
    return ratios.length == 0
        ? ""
        : Figures.number(Medians.median(ratios))
            + " ("
            + Figures.number(ratios[quarter])
            + " to "
            + Figures.number(ratios[ratios.length - 1 - quarter])
            + ")";
  }
}
