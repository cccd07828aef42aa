package io.troupe.node.offline;

import java.util.List;

/**
 * What a command found, in the order in which it is printed.
 *
 * @param cells each with the names that the forms use
 */
record Row(List<Cell> cells) {
  /**
   * One value.
   *
   * @param title in tables
   * @param field in the form "fields"
   * @param name in JSON
   * @param text in tables and lines
   * @param value a number or a text, in JSON and fields
   */
  record Cell(String title, String field, String name, String text, Object value) {
    /** A number that is printed in the same way everywhere. */
    static Cell number(String title, String field, String name, long value) {
      return new Cell(title, field, name, Long.toString(value), value);
    }
  }
}
