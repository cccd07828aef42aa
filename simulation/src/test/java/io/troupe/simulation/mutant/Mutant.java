package io.troupe.simulation.mutant;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One broken rule.
 *
 * @param name the broken rule in plain words; unique
 * @param tests unit tests that fail with this mutant; required only if the simulation does not
 *     catch it
 * @param note why the simulation does not catch it, or empty
 * @param changes at least one
 */
record Mutant(String name, List<String> tests, String note, List<Change> changes) {
  /**
   * A replaced text.
   *
   * @param file a source file, relative to the root of the repository
   * @param before whole lines, or a part of one; occurs exactly once in the file
   * @param after the text in its place, perhaps empty
   */
  record Change(String file, String before, String after) {}

  Mutant {
    tests = List.copyOf(tests);
    changes = List.copyOf(changes);
  }

  /** The changed classes, without packages, in the order of the changes. */
  List<String> classes() {
    return changes.stream()
        .map(change -> change.file().replaceAll(".*/|\\.java$", ""))
        .distinct()
        .toList();
  }

  /**
   * The changed sources.
   *
   * @param root of the repository
   * @return whole new texts by their path, absolute
   * @throws IllegalStateException if a text to replace does not occur exactly once
   */
  Map<Path, String> sources(Path root) throws IOException {
    Map<Path, String> sources = new LinkedHashMap<>();
    for (Change change : changes) {
      Path path = root.resolve(change.file());
      String text = sources.containsKey(path) ? sources.get(path) : Files.readString(path);
      int at = text.indexOf(change.before());
      if (at < 0 || text.indexOf(change.before(), at + 1) >= 0) {
        throw new IllegalStateException(
            "mutant '"
                + name
                + "': not exactly once in "
                + change.file()
                + ":\n"
                + change.before());
      }
      sources.put(
          path,
          text.substring(0, at) + change.after() + text.substring(at + change.before().length()));
    }
    return sources;
  }
}
