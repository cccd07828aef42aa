package io.troupe.ctl.print;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table with a frame: a centered header in capitals, cells aligned to the right. */
public final class TableText {
  private TableText() {}

  /**
   * @param header one title for each column
   * @param rows each as long as the header
   * @return lines without line ends
   */
  public static List<String> lines(List<String> header, List<List<String>> rows) {
    int[] widths = new int[header.size()];
    for (int column = 0; column < widths.length; column++) {
      widths[column] = length(header.get(column));
      for (List<String> row : rows) {
        widths[column] = Math.max(widths[column], length(row.get(column)));
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add(rule(widths, "┌", "┬", "┐"));
    List<String> titles = new ArrayList<>();
    for (int column = 0; column < widths.length; column++) {
      String title = header.get(column).toUpperCase(Locale.ROOT);
      int space = widths[column] - length(title);
      titles.add(" ".repeat(space / 2) + title + " ".repeat(space - space / 2));
    }
    lines.add(row(titles));
    if (!rows.isEmpty()) {
      lines.add(rule(widths, "├", "┼", "┤"));
    }
    for (List<String> cells : rows) {
      List<String> padded = new ArrayList<>();
      for (int column = 0; column < widths.length; column++) {
        padded.add(" ".repeat(widths[column] - length(cells.get(column))) + cells.get(column));
      }
      lines.add(row(padded));
    }
    lines.add(rule(widths, "└", "┴", "┘"));
    return lines;
  }

  private static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  private static String row(List<String> cells) {
    return "│ " + String.join(" │ ", cells) + " │";
  }

  private static String rule(int[] widths, String left, String middle, String right) {
    List<String> parts = new ArrayList<>();
    for (int width : widths) {
      parts.add("─".repeat(width + 2));
    }
    return left + String.join(middle, parts) + right;
  }
}
