package io.troupe.simulation.mutant;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads the mutants in {@code src/test/resources/mutants}. A file begins with text that is ignored.
 * Then each mutant is:
 *
 * <pre>
 * === the name
 * test: RaftLogTest RaftElectionTest      (optional)
 * note: why no seed catches it            (optional)
 * file: core/src/main/java/...            (of the changes that follow)
 * --- before
 * lines to replace
 * --- after
 * lines in their place, or none
 * </pre>
 *
 * Several changes may follow each other. Empty lines at the end of an {@code after} do not count.
 */
final class MutantList {
  private static final List<String> FILES =
      List.of("raft.txt", "disk.txt", "state.txt", "watch.txt", "versions.txt");
  private static final String NAME = "=== ";
  private static final String BEFORE = "--- before";
  private static final String AFTER = "--- after";

  private MutantList() {}

  /** All mutants, in the order of the files. */
  static List<Mutant> read() throws IOException {
    List<Mutant> all = new ArrayList<>();
    for (String file : FILES) {
      try (InputStream in = MutantList.class.getResourceAsStream("/mutants/" + file)) {
        if (in == null) {
          throw new IOException("no resource /mutants/" + file);
        }
        all.addAll(parse(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
      }
    }
    return all;
  }

  /**
   * Parses the text of one file.
   *
   * @throws IllegalArgumentException if a line has no meaning at its place, or a part is missing
   */
  static List<Mutant> parse(String text) {
    List<Mutant> mutants = new ArrayList<>();
    int start = text.startsWith(NAME) ? 0 : text.indexOf("\n" + NAME) + 1;
    for (String part : text.substring(start).split("(?m)^" + NAME, -1)) {
      if (!part.isBlank()) {
        mutants.add(mutant(part));
      }
    }
    return mutants;
  }

  private static Mutant mutant(String part) {
    List<String> lines = part.lines().toList();
    String name = lines.get(0);
    List<String> tests = List.of();
    String note = "";
    String file = "";
    List<Mutant.Change> changes = new ArrayList<>();
    int i = 1;
    while (i < lines.size()) {
      String line = lines.get(i);
      if (line.startsWith("test: ")) {
        tests = List.of(valueOf(line).split(" ", -1));
      } else if (line.startsWith("note: ")) {
        note = valueOf(line);
      } else if (line.startsWith("file: ")) {
        file = valueOf(line);
      } else if (line.equals(BEFORE) && !file.isEmpty()) {
        int after = lines.subList(i, lines.size()).indexOf(AFTER) + i;
        if (after < i) {
          throw new IllegalArgumentException("mutant '" + name + "': no " + AFTER);
        }
        int end = endOf(lines, after + 1);
        changes.add(
            new Mutant.Change(
                file,
                String.join("\n", lines.subList(i + 1, after)),
                String.join("\n", lines.subList(after + 1, end)).stripTrailing()));
        i = end;
        continue;
      } else if (!line.isEmpty()) {
        throw new IllegalArgumentException("mutant '" + name + "': unexpected line: " + line);
      }
      i++;
    }
    if (changes.isEmpty()) {
      throw new IllegalArgumentException("mutant '" + name + "' changes nothing");
    }
    return new Mutant(name, tests, note, changes);
  }

  private static String valueOf(String line) {
    return line.substring(line.indexOf(' ') + 1).strip();
  }

  /** First line after {@code from} that begins another part. */
  private static int endOf(List<String> lines, int from) {
    int end = from;
    while (end < lines.size()
        && !lines.get(end).equals(BEFORE)
        && !lines.get(end).startsWith("file: ")) {
      end++;
    }
    return end;
  }
}
