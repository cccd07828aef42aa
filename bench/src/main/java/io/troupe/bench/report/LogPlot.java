package io.troupe.bench.report;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Draws lines on two logarithmic axes as an SVG. Each line has its name and its last value at its
 * right end. Panels of a row have the same axes, so that they can be compared.
 */
public final class LogPlot {
  private static final int LEFT = 70;
  private static final int PLOT_WIDTH = 330;
  private static final int LABEL_WIDTH = 260;
  private static final int PANEL_WIDTH = LEFT + PLOT_WIDTH + LABEL_WIDTH;
  private static final int TOP = 46;
  private static final int PLOT_HEIGHT = 300;
  private static final int PANEL_HEIGHT = TOP + PLOT_HEIGHT + 60;
  private static final int TITLE_HEIGHT = 40;
  private static final int LABEL_DISTANCE = 16;
  private static final int LABEL_OFFSET = 24;
  private static final List<String> COLORS =
      List.of(
          "#1f5fa8", "#c44e00", "#1b7f3b", "#a3179b", "#7a5c00", "#006d77", "#b3002d", "#4b3fb5",
          "#5c6b00", "#8a3b12", "#00508f", "#6d6d6d");

  /** A point; both values are positive. */
  public record Point(double x, double y) {}

  /** One line. */
  public record Series(String name, List<Point> points) {
    public Series {
      points = List.copyOf(points);
    }
  }

  /** One pair of axes. */
  public record Panel(String title, String unit, List<Series> series) {
    public Panel {
      series = List.copyOf(series);
    }
  }

  private final StringBuilder svg = new StringBuilder();
  private final List<String> names;
  private final Axis x;

  /** A logarithmic axis from a power of ten to another. */
  private record Axis(int from, int until) {
    static Axis of(Stream<Double> values) {
      double[] all = values.mapToDouble(v -> v).sorted().toArray();
      int from = (int) Math.floor(Math.log10(all[0]) + 1e-9);
      int until = (int) Math.ceil(Math.log10(all[all.length - 1]) - 1e-9);
      return new Axis(from, Math.max(until, from + 1));
    }

    /** 0 at the start, 1 at the end. */
    double place(double value) {
      return (Math.log10(value) - from) / (until - from);
    }
  }

  private LogPlot(List<List<Panel>> rows) {
    Set<String> all = new LinkedHashSet<>();
    panels(rows).forEach(panel -> panel.series().forEach(line -> all.add(line.name())));
    this.names = List.copyOf(all);
    this.x = Axis.of(panels(rows).flatMap(LogPlot::points).map(Point::x));
  }

  private static Stream<Panel> panels(List<List<Panel>> rows) {
    return rows.stream().flatMap(List::stream);
  }

  private static Stream<Point> points(Panel panel) {
    return panel.series().stream().flatMap(line -> line.points().stream());
  }

  /**
   * The whole drawing.
   *
   * @param rows panels of a row have one unit and at least one point
   */
  public static String svg(String title, String xLabel, List<List<Panel>> rows) {
    return new LogPlot(rows).draw(title, xLabel, rows);
  }

  private String draw(String title, String xLabel, List<List<Panel>> rows) {
    int columns = rows.stream().mapToInt(List::size).max().orElse(1);
    int width = columns * PANEL_WIDTH;
    int height = TITLE_HEIGHT + rows.size() * PANEL_HEIGHT;
    svg.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        .append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"")
        .append(width)
        .append("\" height=\"")
        .append(height)
        .append("\" viewBox=\"0 0 ")
        .append(width)
        .append(' ')
        .append(height)
        .append("\" font-family=\"sans-serif\" font-size=\"12\">\n")
        .append("<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n");
    text(LEFT, 26, "start", "font-size=\"17\" font-weight=\"bold\"", title);
    for (int row = 0; row < rows.size(); row++) {
      Axis y = Axis.of(rows.get(row).stream().flatMap(LogPlot::points).map(Point::y));
      for (int column = 0; column < rows.get(row).size(); column++) {
        panel(
            rows.get(row).get(column),
            xLabel,
            y,
            column * PANEL_WIDTH + LEFT,
            TITLE_HEIGHT + row * PANEL_HEIGHT + TOP);
      }
    }
    return svg.append("</svg>\n").toString();
  }

  private void panel(Panel panel, String xLabel, Axis y, int left, int top) {
    text(left, top - 14, "start", "font-size=\"14\" font-weight=\"bold\"", panel.title());
    int bottom = top + PLOT_HEIGHT;
    for (int power = x.from(); power <= x.until(); power++) {
      double at = left + x.place(Math.pow(10, power)) * PLOT_WIDTH;
      line(at, top, at, bottom, "#d0d0d0");
      text(at, bottom + 18, "middle", "", tick(power));
    }
    for (int power = y.from(); power <= y.until(); power++) {
      double at = bottom - y.place(Math.pow(10, power)) * PLOT_HEIGHT;
      line(left, at, left + PLOT_WIDTH, at, "#d0d0d0");
      text(left - 6, at + 4, "end", "", tick(power));
    }
    text(left + PLOT_WIDTH / 2.0, bottom + 40, "middle", "", xLabel);
    text(left - LEFT + 8, top - 14, "start", "", panel.unit());
    List<Label> labels = new ArrayList<>();
    for (Series series : panel.series()) {
      labels.add(series(series, panel.unit(), y, left, bottom));
    }
    place(labels, top, bottom);
    labels.forEach(label -> draw(label, left + PLOT_WIDTH + LABEL_OFFSET));
  }

  /** A label: the end of its line, and where its text is. */
  private static final class Label {
    final String text;
    final String color;
    final double endX;
    final double endY;
    double textY;

    Label(String text, String color, double endX, double endY) {
      this.text = text;
      this.color = color;
      this.endX = endX;
      this.endY = endY;
      this.textY = endY;
    }
  }

  private Label series(Series series, String unit, Axis y, int left, int bottom) {
    String color = COLORS.get(names.indexOf(series.name()) % COLORS.size());
    StringBuilder line = new StringBuilder();
    double atX = left;
    double atY = bottom;
    for (Point point : series.points()) {
      atX = left + x.place(point.x()) * PLOT_WIDTH;
      atY = bottom - y.place(point.y()) * PLOT_HEIGHT;
      line.append(number(atX)).append(',').append(number(atY)).append(' ');
      svg.append("<circle cx=\"")
          .append(number(atX))
          .append("\" cy=\"")
          .append(number(atY))
          .append("\" r=\"3\" fill=\"")
          .append(color)
          .append("\"/>\n");
    }
    svg.append("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"")
        .append(color)
        .append("\" points=\"")
        .append(line.toString().trim())
        .append("\"/>\n");
    Point last = series.points().get(series.points().size() - 1);
    String text = series.name() + "  " + Figures.number(last.y()) + " " + unit;
    return new Label(text, color, atX, atY);
  }

  /** Moves labels apart, in the order of their lines, and keeps them beside the axes. */
  private static void place(List<Label> labels, int top, int bottom) {
    labels.sort(Comparator.comparingDouble(label -> label.endY));
    double least = top + 6;
    for (Label label : labels) {
      label.textY = Math.max(label.endY, least);
      least = label.textY + LABEL_DISTANCE;
    }
    double most = bottom;
    for (int i = labels.size() - 1; i >= 0; i--) {
      Label label = labels.get(i);
      label.textY = Math.min(label.textY, most);
      most = label.textY - LABEL_DISTANCE;
    }
  }

  private void draw(Label label, double textX) {
    line(label.endX + 4, label.endY, textX - 3, label.textY, label.color);
    text(textX, label.textY + 4, "start", "fill=\"" + label.color + "\"", label.text);
  }

  private void line(double fromX, double fromY, double toX, double toY, String color) {
    svg.append("<line x1=\"")
        .append(number(fromX))
        .append("\" y1=\"")
        .append(number(fromY))
        .append("\" x2=\"")
        .append(number(toX))
        .append("\" y2=\"")
        .append(number(toY))
        .append("\" stroke-width=\"0.7\" stroke=\"")
        .append(color)
        .append("\"/>\n");
  }

  private void text(double atX, double atY, String anchor, String attributes, String text) {
    svg.append("<text x=\"")
        .append(number(atX))
        .append("\" y=\"")
        .append(number(atY))
        .append("\" text-anchor=\"")
        .append(anchor)
        .append("\" ")
        .append(attributes)
        .append('>')
        .append(text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))
        .append("</text>\n");
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.1f", value);
  }

  /** A power of ten: 0.1, 1, 100, 10k, 10m. */
  static String tick(int power) {
    if (power < 0) {
      return "0." + "0".repeat(-power - 1) + "1";
    }
    String unit = power >= 6 ? "m" : power >= 3 ? "k" : "";
    int zeros = power >= 6 ? power - 6 : power >= 3 ? power - 3 : power;
    return "1" + "0".repeat(zeros) + unit;
  }
}
