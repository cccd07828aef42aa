package io.troupe.tests.layout;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Code and documents use the standard terms. {@code vocabulary.txt} lists the words to avoid with
 * the terms to use instead.
 */
class VocabularyTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path WORDS = Path.of("src/test/resources/vocabulary.txt");
  private static final Path SELF = Path.of("VocabularyTest.java");
  private static final int MAX_LINE = 120;

  /** Names on the wire, labels of metrics and golden files, and a method of the JDK. */
  private static final Pattern QUOTED =
      Pattern.compile("\"rooms?(/[a-z]+)?\"|\"members-query-of-nobody\"|\\.noBody\\(\\)");

  private static final Pattern CODE_SPAN = Pattern.compile("`[^`]*`");

  private record Rule(Pattern avoid, String say) {
    static Rule parse(String line) {
      int split = line.lastIndexOf(" = ");
      return new Rule(
          Pattern.compile(line.substring(0, split).strip(), Pattern.CASE_INSENSITIVE),
          line.substring(split + 3).strip());
    }
  }

  private static List<Rule> rules() throws IOException {
    return Files.readAllLines(WORDS).stream()
        .filter(line -> !line.isBlank() && !line.startsWith("#"))
        .map(Rule::parse)
        .toList();
  }

  private static List<Path> files(String suffix, String... folders) {
    List<Path> found = new ArrayList<>();
    for (String folder : folders) {
      try (Stream<Path> all = Files.walk(ROOT.resolve(folder))) {
        all.filter(Files::isRegularFile)
            .filter(file -> file.toString().endsWith(suffix))
            .filter(file -> !file.toString().contains("/target/"))
            .sorted()
            .forEach(found::add);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return found;
  }

  private static String[] sources(String kind) throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      return modules
          .map(module -> module.resolve("src").resolve(kind))
          .filter(Files::isDirectory)
          .map(folder -> ROOT.relativize(folder).toString())
          .toArray(String[]::new);
    }
  }

  private static List<Path> documents() {
    List<Path> all = files(".md", "docs", "bench", "clients", "examples");
    for (String name : List.of("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")) {
      all.add(ROOT.resolve(name));
    }
    return all;
  }

  private static List<String> found(List<Path> files) throws IOException {
    List<Rule> rules = rules();
    List<String> found = new ArrayList<>();
    for (Path file : files) {
      List<String> lines = Files.readAllLines(file);
      boolean document = file.toString().endsWith(".md");
      boolean block = false;
      for (int i = 0; i < lines.size(); i++) {
        block ^= document && lines.get(i).strip().startsWith("```");
        if (block) {
          continue;
        }
        String text = QUOTED.matcher(lines.get(i)).replaceAll("");
        if (document) {
          text = CODE_SPAN.matcher(text).replaceAll("");
        }
        for (Rule rule : rules) {
          if (rule.avoid().matcher(text).find()) {
            found.add(
                "%s:%d: %s (say: %s)"
                    .formatted(ROOT.relativize(file), i + 1, lines.get(i).strip(), rule.say()));
          }
        }
      }
    }
    return found;
  }

  @Test
  void codeUsesStandardTerms() throws IOException {
    List<Path> code = files(".java", sources("main"));
    assertThat(code).hasSizeGreaterThan(300);
    assertThat(found(code)).isEmpty();
  }

  @Test
  void testsUseStandardTerms() throws IOException {
    List<Path> tests = files(".java", sources("test"));
    assertThat(tests).hasSizeGreaterThan(300);
    assertThat(found(tests.stream().filter(test -> !test.endsWith(SELF)).toList())).isEmpty();
  }

  @Test
  void configurationAndScriptsUseStandardTerms() throws IOException {
    List<Path> texts = files("", "conf", "bin");
    texts.addAll(files(".conf", sources("main")));
    texts.addAll(files(".proto", sources("main")));
    assertThat(found(texts)).isEmpty();
  }

  @Test
  void documentsUseStandardTerms() throws IOException {
    List<Path> documents = documents();
    assertThat(documents).hasSizeGreaterThan(100);
    assertThat(found(documents)).isEmpty();
  }

  @Test
  void documentsHaveShortLines() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : documents()) {
      boolean code = false;
      int number = 0;
      for (String line : Files.readAllLines(file)) {
        number++;
        code ^= line.strip().startsWith("```");
        String text = CODE_SPAN.matcher(line.strip()).replaceAll("");
        boolean oneWord = !text.replaceFirst("^[-*>] ", "").contains(" ");
        boolean indentedCode = line.startsWith("    ");
        boolean link = line.contains("](") || line.contains("://");
        boolean prose = !code && !indentedCode && !line.startsWith("|") && !oneWord && !link;
        if (line.length() > MAX_LINE && prose) {
          found.add(ROOT.relativize(file) + ":" + number + ": " + line.length());
        }
      }
    }
    assertThat(found).isEmpty();
  }
}
