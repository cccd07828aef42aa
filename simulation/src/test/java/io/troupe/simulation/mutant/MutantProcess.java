package io.troupe.simulation.mutant;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;

/**
 * Compiles core and simulation with other texts of some files, and runs seeds of the result in a
 * JVM of its own. One thread.
 */
final class MutantProcess {
  private static final Pattern SEEDS = Pattern.compile("(?m)^Seeds (\\d+) to (-?\\d+), ");
  private static final Pattern FAILURE = Pattern.compile("(?m)^- seed=(\\d+) at \\d+ ms: (.*)$");
  private static final Pattern UNEXPECTED = Pattern.compile("(?m)^Exception in thread .*? (\\S+)");
  private static final int MOST_CHARACTERS = 100;

  private final Path root;
  private final Path directory;
  private final long timeoutSeconds;

  /**
   * Results of some seeds.
   *
   * @param seeds number of seeds that ran
   * @param failed number of them that failed
   * @param firstSeed the first that failed, or 0
   * @param broken what the first that failed reports, without details
   */
  record Outcome(long seeds, int failed, long firstSeed, String broken) {
    /** The outcome of these and of the seeds after them. */
    Outcome and(Outcome next) {
      return new Outcome(
          seeds + next.seeds,
          failed + next.failed,
          failed > 0 ? firstSeed : next.firstSeed,
          failed > 0 ? broken : next.broken);
    }
  }

  /**
   * A process for one mutant.
   *
   * @param root of the repository
   * @param directory for classes and output; exists, empty
   */
  MutantProcess(Path root, Path directory, long timeoutSeconds) {
    this.root = root;
    this.directory = directory;
    this.timeoutSeconds = timeoutSeconds;
  }

  /**
   * Compiles.
   *
   * @param changed texts by absolute path, in place of the files
   * @throws IllegalStateException if it does not compile
   */
  void compile(Map<Path, String> changed) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter messages = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<JavaFileObject> units = new ArrayList<>();
      List<Path> unchanged = new ArrayList<>();
      for (String module : List.of("core", "simulation")) {
        try (Stream<Path> all = Files.walk(root.resolve(module).resolve("src/main/java"))) {
          all.filter(file -> file.toString().endsWith(".java") && !changed.containsKey(file))
              .forEach(unchanged::add);
        }
      }
      files.getJavaFileObjectsFromPaths(unchanged).forEach(units::add);
      changed.forEach((path, text) -> units.add(new Source(path, text)));
      List<String> options =
          List.of(
              "--release", "17", "-proc:none", "-nowarn", "-d", classes(), "-cp", annotations());
      if (!compiler.getTask(messages, files, null, options, null, units).call()) {
        throw new IllegalStateException("does not compile:\n" + messages);
      }
    }
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(Path path, String text) {
      super(URI.create("string://" + path), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  private String classes() {
    return directory.resolve("classes").toString();
  }

  /** The only library that the sources use. */
  private static String annotations() {
    try {
      return Path.of(Nullable.class.getProtectionDomain().getCodeSource().getLocation().toURI())
          .toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs seeds with {@code seconds} of faults each, until {@code failures} of them have failed. */
  Outcome run(long firstSeed, long seeds, int seconds, int failures)
      throws IOException, InterruptedException {
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx768m",
                "-XX:+UseSerialGC",
                "-cp",
                classes() + File.pathSeparator + annotations(),
                "io.troupe.simulation.CampaignMain",
                Long.toString(firstSeed),
                Long.toString(seeds),
                Integer.toString(seconds),
                "-",
                Integer.toString(failures))
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS)) {
        return new Outcome(seeds, 1, firstSeed, "does not end in " + timeoutSeconds + " s");
      }
    } finally {
      process.destroyForcibly();
    }
    return outcome(Files.readString(output));
  }

  /** Reads the output of a campaign. */
  static Outcome outcome(String output) {
    Matcher seeds = SEEDS.matcher(output);
    if (!seeds.find()) {
      Matcher unexpected = UNEXPECTED.matcher(output);
      if (!unexpected.find()) {
        throw new IllegalStateException("no results:\n" + output);
      }
      return new Outcome(1, 1, 0, "the process ends: " + unexpected.group(1));
    }
    List<MatchResult> failures = FAILURE.matcher(output).results().toList();
    long ran = Long.parseLong(seeds.group(2)) - Long.parseLong(seeds.group(1)) + 1;
    if (failures.isEmpty()) {
      return new Outcome(ran, 0, 0, "");
    }
    MatchResult first = failures.get(0);
    return new Outcome(ran, failures.size(), Long.parseLong(first.group(1)), rule(first.group(2)));
  }

  /** The broken rule, without the class of the exception and without details. */
  private static String rule(String message) {
    String rule =
        message
            .replaceFirst("^io\\.troupe\\.\\S+?(Violation|Broken): ", "")
            .replaceFirst("^broken invariant: ", "")
            .replaceFirst("^(java|io)\\.[a-z.]*\\.", "")
            .replaceFirst(" \\| .*", "")
            .replaceFirst(": -?\\d.*", "");
    return rule.substring(0, Math.min(MOST_CHARACTERS, rule.length()));
  }
}
