package io.troupe.node.offline;

import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The forms in which {@code snapshot status} prints (7.3). */
enum StatusPrinter {
  /** One line, separated by commas. */
  SIMPLE {
    @Override
    String text(SnapshotStatus status) {
      return String.join(", ", cells(status));
    }
  },
  /** One JSON object. */
  JSON {
    @Override
    String text(SnapshotStatus status) {
      JsonObject json = new JsonObject();
      json.addProperty("hash", Integer.toUnsignedLong(status.hash()));
      json.addProperty("revision", status.revision());
      json.addProperty("totalKey", status.totalKey());
      json.addProperty("totalSize", status.totalSize());
      json.addProperty("version", status.version());
      return json.toString();
    }
  },
  /** One line for each field. */
  FIELDS {
    @Override
    String text(SnapshotStatus status) {
      return "\"Hash\" : "
          + Integer.toUnsignedString(status.hash())
          + "\n\"Revision\" : "
          + status.revision()
          + "\n\"Keys\" : "
          + status.totalKey()
          + "\n\"Size\" : "
          + status.totalSize()
          + "\n\"Version\" : "
          + status.version();
    }
  },
  /** A table with lines. */
  TABLE {
    @Override
    String text(SnapshotStatus status) {
      List<String> cells = cells(status);
      List<Integer> widths = new ArrayList<>();
      for (int i = 0; i < TITLES.size(); i++) {
        widths.add(Math.max(TITLES.get(i).length(), cells.get(i).length()));
      }
      return line("┌", "┬", "┐", widths)
          + row(centered(widths), widths)
          + line("├", "┼", "┤", widths)
          + row(cells, widths)
          + line("└", "┴", "┘", widths).stripTrailing();
    }
  };

  private static final List<String> TITLES =
      List.of("HASH", "REVISION", "TOTAL KEYS", "TOTAL SIZE", "VERSION");

  /** The text, without a line feed at the end. */
  abstract String text(SnapshotStatus status);

  /**
   * The printer of a name such as {@code json}.
   *
   * @throws CommandException if there is none
   */
  static StatusPrinter named(String name) {
    if (name.equals("protobuf")) {
      throw new CommandException(4, "protobuf not supported as output format");
    }
    for (StatusPrinter printer : values()) {
      if (printer.name().toLowerCase(Locale.ROOT).equals(name)) {
        return printer;
      }
    }
    throw new CommandException(4, "unsupported output format");
  }

  private static List<String> cells(SnapshotStatus status) {
    return List.of(
        Integer.toHexString(status.hash()),
        Long.toString(status.revision()),
        Long.toString(status.totalKey()),
        status.size(),
        status.version());
  }

  /** Titles are in the middle, cells on the right. */
  private static List<String> centered(List<Integer> widths) {
    List<String> titles = new ArrayList<>();
    for (int i = 0; i < TITLES.size(); i++) {
      String title = TITLES.get(i);
      titles.add(title + " ".repeat((widths.get(i) - title.length()) / 2));
    }
    return titles;
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
