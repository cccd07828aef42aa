package io.troupe.bench.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A Markdown table whose columns are aligned in a terminal too. The first column is text, the
 * others are right-aligned.
 */
public final class MarkdownTable {
  private final List<List<String>> rows = new ArrayList<>();
  private final int columns;

  public MarkdownTable(String... header) {
    columns = header.length;
    rows.add(List.of(header));
  }

  /**
   * Adds a row below the others.
   *
   * @throws IllegalArgumentException if the number of cells differs from the header
   */
  public MarkdownTable row(String... cells) {
    if (cells.length != columns) {
      throw new IllegalArgumentException(cells.length + " cells in a table of " + columns);
    }
    rows.add(List.of(cells));
    return this;
  }

  /** The table; each line ends with a line break. */
  @Override
  public String toString() {
    int[] widths = new int[columns];
    for (List<String> row : rows) {
      for (int i = 0; i < columns; i++) {
        widths[i] = Math.max(widths[i], Math.max(3, row.get(i).length()));
      }
    }
    StringBuilder text = new StringBuilder();
    for (int r = 0; r < rows.size(); r++) {
      text.append('|');
      for (int i = 0; i < columns; i++) {
        String cell = rows.get(r).get(i);
        String pad = " ".repeat(widths[i] - cell.length());
        text.append(' ').append(i == 0 ? cell + pad : pad + cell).append(" |");
      }
      text.append('\n');
      if (r == 0) {
        rule(text, widths);
      }
    }
    return text.toString();
  }

  private static void rule(StringBuilder text, int[] widths) {
    text.append('|');
    for (int i = 0; i < widths.length; i++) {
      text.append(' ')
          .append("-".repeat(widths[i] - (i == 0 ? 0 : 1)))
          .append(i == 0 ? " |" : ": |");
    }
    text.append('\n');
  }
}
