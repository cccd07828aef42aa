package io.troupe.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** The figures of {@code bench scale} as a table and as the panels of a plot. */
public final class ScaleTable {
  private ScaleTable() {}

  /**
   * Measurements in rows, a column for each size.
   *
   * @param servers points by the server's name
   */
  public static String markdown(Map<String, List<ScalePoint>> servers) {
    List<String> header = new ArrayList<>(List.of("measurement", "server"));
    Set<Integer> sizes = new TreeSet<>();
    Set<String> measurements = new LinkedHashSet<>();
    for (List<ScalePoint> points : servers.values()) {
      points.forEach(point -> sizes.add(point.size()));
      points.forEach(point -> measurements.add(point.measurement()));
    }
    sizes.forEach(size -> header.add(Figures.count((double) size)));
    MarkdownTable table = new MarkdownTable(header.toArray(String[]::new));
    for (String measurement : measurements) {
      servers.forEach(
          (server, points) -> {
            List<String> row = new ArrayList<>();
            row.add(measurement);
            row.add(server);
            sizes.forEach(size -> row.add(cell(points, measurement, size)));
            table.row(row.toArray(String[]::new));
          });
    }
    return table.toString();
  }

  private static String cell(List<ScalePoint> points, String measurement, int size) {
    return points.stream()
        .filter(point -> point.size() == size && point.measurement().equals(measurement))
        .findFirst()
        .map(ScaleTable::text)
        .orElse("-");
  }

  private static String text(ScalePoint point) {
    String value =
        point.unit().equals(ScalePoint.MS)
            ? Figures.number(point.value())
            : Figures.count(point.value());
    return (Double.isNaN(point.p99()) ? value : value + " / " + Figures.number(point.p99()))
        + " "
        + point.unit();
  }

  /** A row of panels for milliseconds and one for MiB; a panel for each server. */
  public static List<List<LogPlot.Panel>> panels(Map<String, List<ScalePoint>> servers) {
    List<List<LogPlot.Panel>> rows = new ArrayList<>();
    for (String unit : List.of(ScalePoint.MS, ScalePoint.MIB)) {
      List<LogPlot.Panel> row = new ArrayList<>();
      servers.forEach((server, points) -> row.add(panel(server, unit, points)));
      if (row.stream().anyMatch(panel -> !panel.series().isEmpty())) {
        rows.add(row);
      }
    }
    return rows;
  }

  private static LogPlot.Panel panel(String server, String unit, List<ScalePoint> points) {
    Map<String, List<LogPlot.Point>> series = new LinkedHashMap<>();
    for (ScalePoint point : points) {
      if (point.unit().equals(unit) && point.value() > 0) {
        series
            .computeIfAbsent(point.measurement(), name -> new ArrayList<>())
            .add(new LogPlot.Point(point.size(), point.value()));
      }
    }
    List<LogPlot.Series> lines = new ArrayList<>();
    series.forEach((name, line) -> lines.add(new LogPlot.Series(name, line)));
    return new LogPlot.Panel(server, unit, lines);
  }
}
