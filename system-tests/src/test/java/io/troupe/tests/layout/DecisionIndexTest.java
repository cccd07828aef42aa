package io.troupe.tests.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The index of docs/decisions lists each page once, with its number and title, in order. */
class DecisionIndexTest {
  private static final Path DECISIONS = Path.of("../docs/decisions");
  private static final Pattern ROW =
      Pattern.compile("\\| \\[(\\d{4})]\\(([^)]+)\\) \\| (.+?) \\| .*");

  @Test
  void indexListsEveryDecision() throws IOException {
    List<String> pages = new ArrayList<>();
    try (Stream<Path> files = Files.list(DECISIONS)) {
      for (Path file : files.sorted().toList()) {
        String name = file.getFileName().toString();
        if (!name.equals("README.md")) {
          String title = Files.readAllLines(file).get(0).replaceFirst("^# \\d{4} ", "");
          pages.add(name.substring(0, 4) + " " + name + " " + title);
        }
      }
    }
    List<String> rows =
        Files.readAllLines(DECISIONS.resolve("README.md")).stream()
            .map(ROW::matcher)
            .filter(Matcher::matches)
            .map(row -> row.group(1) + " " + row.group(2) + " " + row.group(3))
            .toList();
    assertThat(pages).hasSizeGreaterThan(100);
    assertThat(rows).containsExactlyElementsOf(pages);
  }
}
