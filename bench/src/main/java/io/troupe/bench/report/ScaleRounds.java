package io.troupe.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The figures of the servers of {@code bench scale} over several rounds. In each round every server
 * is filled to the same sizes. Used by one thread.
 */
public final class ScaleRounds {
  /** By server: a list of points for each round. */
  private final Map<String, List<List<ScalePoint>>> rounds = new LinkedHashMap<>();

  /** Adds the points of a server in one round. */
  public void add(String server, List<ScalePoint> points) {
    rounds.computeIfAbsent(server, name -> new ArrayList<>()).add(List.copyOf(points));
  }

  /** By server: one point for each measurement and size, with the medians of the rounds. */
  public Map<String, List<ScalePoint>> medians() {
    Map<String, List<ScalePoint>> medians = new LinkedHashMap<>();
    rounds.forEach(
        (server, each) -> {
          Map<List<Object>, List<ScalePoint>> same = new LinkedHashMap<>();
          for (List<ScalePoint> points : each) {
            for (ScalePoint point : points) {
              same.computeIfAbsent(
                      List.of(point.measurement(), point.size()), key -> new ArrayList<>())
                  .add(point);
            }
          }
          medians.put(server, same.values().stream().map(ScaleRounds::median).toList());
        });
    return medians;
  }

  private static ScalePoint median(List<ScalePoint> same) {
    ScalePoint first = same.get(0);
    return new ScalePoint(
        first.measurement(),
        first.unit(),
        first.size(),
        Medians.median(same.stream().mapToDouble(ScalePoint::value).toArray()),
        Medians.median(same.stream().mapToDouble(ScalePoint::p99).toArray()));
  }

  /**
   * A table of the p99 at each size as a multiple of that at the smallest size, within one round:
   * the machine may be faster in another. The median of the rounds, and with several rounds the
   * least and the greatest. Empty without a second size.
   */
  public String growth() {
    Set<Integer> sizes = new TreeSet<>();
    Set<String> measurements = new LinkedHashSet<>();
    rounds.values().stream()
        .flatMap(List::stream)
        .flatMap(List::stream)
        .filter(point -> !Double.isNaN(point.p99()))
        .forEach(
            point -> {
              sizes.add(point.size());
              measurements.add(point.measurement());
            });
    if (sizes.size() < 2) {
      return "";
    }
    List<Integer> ascending = List.copyOf(sizes);
    List<Integer> larger = ascending.subList(1, ascending.size());
    List<String> header = new ArrayList<>(List.of("p99 / p99 at the smallest size", "server"));
    larger.forEach(size -> header.add(Figures.count((double) size)));
    MarkdownTable table = new MarkdownTable(header.toArray(String[]::new));
    for (String measurement : measurements) {
      rounds.forEach(
          (server, each) -> {
            List<String> row = new ArrayList<>(List.of(measurement, server));
            larger.forEach(size -> row.add(growth(each, measurement, ascending.get(0), size)));
            table.row(row.toArray(String[]::new));
          });
    }
    return table.toString();
  }

  private static String growth(
      List<List<ScalePoint>> rounds, String measurement, int smallest, int size) {
    double[] ratios =
        rounds.stream()
            .mapToDouble(
                points -> p99(points, measurement, size) / p99(points, measurement, smallest))
            .filter(ratio -> !Double.isNaN(ratio))
            .sorted()
            .toArray();
    String median = Figures.number(Medians.median(ratios));
    return ratios.length < 2
        ? median
        : median
            + " ("
            + Figures.number(ratios[0])
            + " to "
            + Figures.number(ratios[ratios.length - 1])
            + ")";
  }

  private static double p99(List<ScalePoint> points, String measurement, int size) {
    return points.stream()
        .filter(point -> point.size() == size && point.measurement().equals(measurement))
        .mapToDouble(ScalePoint::p99)
        .findFirst()
        .orElse(Double.NaN);
  }
}
