package io.troupe.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Servers in JVMs of their own, started without special flags and on every JDK. */
class ProgramTest {
  private static final Path JDKS = Path.of("/usr/lib/jvm");
  private static final long TIMEOUT_S = 120;

  /** What SLF4J and JDK 24 or newer print, whatever the program does. */
  private static final List<String> EXPECTED = List.of("SLF4J(W): ", "WARNING: ");

  private final List<Process> running = new ArrayList<>();

  @TempDir Path directory = Path.of("");

  static List<Path> jdks() throws IOException {
    Path own = Path.of(System.getProperty("java.home")).toRealPath();
    try (Stream<Path> all = Files.isDirectory(JDKS) ? Files.list(JDKS) : Stream.empty()) {
      return Stream.concat(
              Stream.of(own),
              all.filter(each -> Files.isExecutable(each.resolve("bin/java")))
                  .map(ProgramTest::real))
          .distinct()
          .filter(each -> Files.exists(each.resolve("release")) && major(each) >= 17)
          .toList();
    }
  }

  private static Path real(Path path) {
    try {
      return path.toRealPath();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static int major(Path jdk) {
    try (Stream<String> lines = Files.lines(jdk.resolve("release"))) {
      String version =
          lines.filter(line -> line.startsWith("JAVA_VERSION=")).findFirst().orElseThrow();
      return Integer.parseInt(version.replaceAll("JAVA_VERSION=\"(\\d+).*", "$1"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @AfterEach
  void end() {
    running.forEach(Process::destroyForcibly);
  }

  private Process start(Path jdk, String name, int members) throws IOException {
    Path temporary = Files.createDirectory(directory.resolve(name));
    String classes =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Process process =
        new ProcessBuilder(
                jdk.resolve("bin/java").toString(),
                "-Xmx512m",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                classes,
                SampleProgram.class.getName(),
                String.valueOf(members))
            .redirectOutput(directory.resolve(name + ".out").toFile())
            .redirectError(directory.resolve(name + ".err").toFile())
            .start();
    running.add(process);
    return process;
  }

  private List<String> awaitEnd(Process process, String name)
      throws IOException, InterruptedException {
    assertThat(process.waitFor(TIMEOUT_S, TimeUnit.SECONDS)).isTrue();
    List<String> printed = Files.readAllLines(directory.resolve(name + ".out"), UTF_8);
    List<String> errors =
        Files.readAllLines(directory.resolve(name + ".err"), UTF_8).stream()
            .filter(line -> !line.isEmpty() && EXPECTED.stream().noneMatch(line::startsWith))
            .toList();
    assertThat(errors).isEmpty();
    assertThat(process.exitValue()).isEqualTo(7);
    return printed;
  }

  /** jetcd may leave files of its own. */
  private List<String> left(String name) throws IOException {
    try (Stream<Path> all = Files.list(directory.resolve(name))) {
      return all.map(each -> each.getFileName().toString())
          .filter(each -> each.contains("troupe") || each.contains("rocksdb"))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("jdks")
  void jvmThatEndsWithoutCloseLeavesNoFileAndPrintsNothing(Path jdk) throws Exception {
    List<String> printed = awaitEnd(start(jdk, "program", 1), "program");
    assertThat(printed).hasSize(2);
    assertThat(printed.get(0)).startsWith("http://127.0.0.1:");
    assertThat(Integer.parseInt(printed.get(1))).isPositive();
    assertThat(left("program")).isEmpty();
  }

  @Test
  void jvmsThatStartTogetherUseDifferentPorts() throws Exception {
    Path jdk = jdks().get(0);
    Process one = start(jdk, "one", 3);
    Process other = start(jdk, "other", 3);
    List<String> ofOne = awaitEnd(one, "one");
    List<String> ofOther = awaitEnd(other, "other");
    assertThat(ofOne).hasSize(4);
    assertThat(ofOther).hasSize(4);
    assertThat(ofOne.subList(0, 3)).doesNotContainAnyElementsOf(ofOther.subList(0, 3));
  }
}
