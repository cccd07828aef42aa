package io.troupe.simulation.mutant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The list of mutants fits the sources of today. */
class MutantListTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

  private static Mutant mutant(String before, String after) {
    return new Mutant(
        "of this test",
        List.of(),
        "",
        List.of(new Mutant.Change("core/src/main/java/io/troupe/model/Entry.java", before, after)));
  }

  @Test
  void eachTextToReplaceOccursOnce() throws IOException {
    List<Mutant> mutants = MutantList.read();
    assertThat(mutants).hasSizeGreaterThan(60);
    for (Mutant mutant : mutants) {
      // Throws if one does not.
      assertThat(mutant.sources(ROOT)).as(mutant.name()).isNotEmpty();
      assertThat(mutant.changes())
          .as(mutant.name())
          .allSatisfy(change -> assertThat(change.after()).isNotEqualTo(change.before()));
    }
  }

  @Test
  void staleTextIsReported() {
    assertThatThrownBy(() -> mutant("no such text", "").sources(ROOT))
        .hasMessageContaining("of this test");
    assertThatThrownBy(() -> mutant("import ", "").sources(ROOT))
        .hasMessageContaining("not exactly once");
  }

  @Test
  void textIsReplaced() throws IOException {
    assertThat(mutant("package io.troupe.model;", "package other;").sources(ROOT).values())
        .singleElement()
        .satisfies(text -> assertThat(text).startsWith("package other;\n"));
  }

  @Test
  void namesAreUnique() throws IOException {
    assertThat(MutantList.read().stream().map(Mutant::name)).doesNotHaveDuplicates();
  }

  @Test
  void namedTestsExist() throws IOException {
    Set<String> tests = new HashSet<>();
    for (String module : List.of("core", "actors", "simulation")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(module).resolve("src/test/java"))) {
        files.forEach(file -> tests.add(file.getFileName().toString().replace(".java", "")));
      }
    }
    assertThat(MutantList.read().stream().flatMap(mutant -> mutant.tests().stream()))
        .isNotEmpty()
        .allSatisfy(test -> assertThat(tests).contains(test));
  }

  @Test
  void partsOfMutantsAreParsed() {
    assertThat(
            MutantList.parse(
                """
                ignored
                === one
                test: ATest BTest
                note: why
                file: A.java
                --- before
                  x

                  y
                --- after
                --- before
                z
                --- after
                zz

                === two
                file: B.java
                --- before
                b
                --- after
                bb
                """))
        .containsExactly(
            new Mutant(
                "one",
                List.of("ATest", "BTest"),
                "why",
                List.of(
                    new Mutant.Change("A.java", "  x\n\n  y", ""),
                    new Mutant.Change("A.java", "z", "zz"))),
            new Mutant("two", List.of(), "", List.of(new Mutant.Change("B.java", "b", "bb"))));
  }

  @Test
  void incompleteMutantsAreRefused() {
    assertThatThrownBy(() -> MutantList.parse("=== one\nfile: A.java\n"))
        .hasMessageContaining("changes nothing");
    assertThatThrownBy(() -> MutantList.parse("=== one\nfile: A.java\n--- before\nx\n"))
        .hasMessageContaining("no --- after");
    assertThatThrownBy(() -> MutantList.parse("=== one\nfiles: A.java\n"))
        .hasMessageContaining("unexpected line");
  }
}
