package io.troupe.node.offline;

import com.google.gson.JsonObject;
import io.troupe.node.offline.Row.Cell;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The forms in which commands print (7.3). */
enum OutputForm {
  /** One line, separated by commas. */
  SIMPLE {
    @Override
    String text(Row row) {
      return row.cells().stream().map(Cell::text).collect(Collectors.joining(", "));
    }
  },
  /** One JSON object. */
  JSON {
    @Override
    String text(Row row) {
      JsonObject json = new JsonObject();
      for (Cell cell : row.cells()) {
        if (cell.value() instanceof Number number) {
          json.addProperty(cell.name(), number);
        } else {
          json.addProperty(cell.name(), cell.value().toString());
        }
      }
      return json.toString();
    }
  },
  /** One line for each field. */
  FIELDS {
    @Override
    String text(Row row) {
      return row.cells().stream()
          .map(cell -> "\"" + cell.field() + "\" : " + cell.value())
          .collect(Collectors.joining("\n"));
    }
  },
  /** A table with lines. */
  TABLE {
    @Override
    String text(Row row) {
      List<Integer> widths = new ArrayList<>();
      List<String> titles = new ArrayList<>();
      List<String> texts = new ArrayList<>();
      for (Cell cell : row.cells()) {
        int width = Math.max(cell.title().length(), cell.text().length());
        widths.add(width);
        // Titles are in the middle, cells on the right.
        titles.add(cell.title() + " ".repeat((width - cell.title().length() + 1) / 2));
        texts.add(cell.text());
      }
      return line("┌", "┬", "┐", widths)
          + row(titles, widths)
          + line("├", "┼", "┤", widths)
          + row(texts, widths)
          + line("└", "┴", "┘", widths).stripTrailing();
    }
  };

  /** The text, without a line feed at the end. */
  abstract String text(Row row);

  /**
   * The form of a name such as {@code json}.
   *
   * @throws CommandException if there is none
   */
  static OutputForm named(String name) {
    if (name.equals("protobuf")) {
      throw new CommandException(4, "protobuf not supported as output format");
    }
    for (OutputForm form : values()) {
      if (form.name().toLowerCase(Locale.ROOT).equals(name)) {
        return form;
      }
    }
    throw new CommandException(4, "unsupported output format");
  }

  private static String line(String left, String between, String right, List<Integer> widths) {
    List<String> parts = widths.stream().map(width -> "─".repeat(width + 2)).toList();
    return left + String.join(between, parts) + right + "\n";
  }

  private static String row(List<String> cells, List<Integer> widths) {
    StringBuilder row = new StringBuilder();
    for (int i = 0; i < cells.size(); i++) {
      row.append("│ ")
          .append(" ".repeat(widths.get(i) - cells.get(i).length()))
          .append(cells.get(i))
          .append(' ');
    }
    return row.append("│\n").toString();
  }
}
